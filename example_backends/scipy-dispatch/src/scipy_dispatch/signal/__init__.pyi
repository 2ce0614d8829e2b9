# Written by tools/write_stubs.py from SciPy 1.18; do not edit.
# ruff: noqa: N802, N803 -- SciPy's names
from typing import Any

from scipy.signal import CZT as CZT
from scipy.signal import BadCoefficients as BadCoefficients
from scipy.signal import ShortTimeFFT as ShortTimeFFT
from scipy.signal import StateSpace as StateSpace
from scipy.signal import TransferFunction as TransferFunction
from scipy.signal import ZerosPolesGain as ZerosPolesGain
from scipy.signal import ZoomFFT as ZoomFFT
from scipy.signal import besselap as besselap
from scipy.signal import buttap as buttap
from scipy.signal import cheb1ap as cheb1ap
from scipy.signal import cheb2ap as cheb2ap
from scipy.signal import correlation_lags as correlation_lags
from scipy.signal import czt_points as czt_points
from scipy.signal import dlti as dlti
from scipy.signal import ellipap as ellipap
from scipy.signal import gammatone as gammatone
from scipy.signal import get_window as get_window
from scipy.signal import iircomb as iircomb
from scipy.signal import iirnotch as iirnotch
from scipy.signal import iirpeak as iirpeak
from scipy.signal import kaiser_atten as kaiser_atten
from scipy.signal import kaiser_beta as kaiser_beta
from scipy.signal import kaiserord as kaiserord
from scipy.signal import lti as lti
from scipy.signal import savgol_coeffs as savgol_coeffs
from scipy.signal import unit_impulse as unit_impulse

from .._dispatch import system
from . import windows as windows

@system.dispatchable()
def abcd_normalize(A: Any = ..., B: Any = ..., C: Any = ..., D: Any = ...) -> Any: ...
@system.dispatchable()
def argrelextrema(
    data: Any,
    comparator: Any,
    axis: Any = ...,
    order: Any = ...,
    mode: Any = ...,
) -> Any: ...
@system.dispatchable()
def argrelmax(data: Any, axis: Any = ..., order: Any = ..., mode: Any = ...) -> Any: ...
@system.dispatchable()
def argrelmin(data: Any, axis: Any = ..., order: Any = ..., mode: Any = ...) -> Any: ...
@system.dispatchable()
def band_stop_obj(
    wp: Any,
    ind: Any,
    passb: Any,
    stopb: Any,
    gpass: Any,
    gstop: Any,
    type: Any,
) -> Any: ...
@system.dispatchable()
def bessel(
    N: Any,
    Wn: Any,
    btype: Any = ...,
    analog: Any = ...,
    output: Any = ...,
    norm: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def bilinear(b: Any, a: Any, fs: Any = ...) -> Any: ...
@system.dispatchable()
def bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> Any: ...
@system.dispatchable()
def bode(system: Any, w: Any = ..., n: Any = ...) -> Any: ...
@system.dispatchable()
def butter(
    N: Any,
    Wn: Any,
    btype: Any = ...,
    analog: Any = ...,
    output: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def buttord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def cheb1ord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def cheb2ord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def cheby1(
    N: Any,
    rp: Any,
    Wn: Any,
    btype: Any = ...,
    analog: Any = ...,
    output: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def cheby2(
    N: Any,
    rs: Any,
    Wn: Any,
    btype: Any = ...,
    analog: Any = ...,
    output: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def check_COLA(window: Any, nperseg: Any, noverlap: Any, tol: Any = ...) -> Any: ...
@system.dispatchable()
def check_NOLA(window: Any, nperseg: Any, noverlap: Any, tol: Any = ...) -> Any: ...
@system.dispatchable()
def chirp(
    t: Any,
    f0: Any,
    t1: Any,
    f1: Any,
    method: Any = ...,
    phi: Any = ...,
    vertex_zero: Any = ...,
    *,
    complex: Any = ...,
) -> Any: ...
@system.dispatchable()
def choose_conv_method(in1: Any, in2: Any, mode: Any = ..., measure: Any = ...) -> Any: ...
@system.dispatchable()
def closest_STFT_dual_window(
    win: Any,
    hop: Any,
    desired_dual: Any = ...,
    *,
    scaled: Any = ...,
) -> Any: ...
@system.dispatchable()
def coherence(
    x: Any,
    y: Any,
    fs: Any = ...,
    window: Any = ...,
    nperseg: Any = ...,
    noverlap: Any = ...,
    nfft: Any = ...,
    detrend: Any = ...,
    axis: Any = ...,
) -> Any: ...
@system.dispatchable()
def cont2discrete(system: Any, dt: Any, method: Any = ..., alpha: Any = ...) -> Any: ...
@system.dispatchable()
def convolve(in1: Any, in2: Any, mode: Any = ..., method: Any = ...) -> Any: ...
@system.dispatchable()
def convolve2d(
    in1: Any,
    in2: Any,
    mode: Any = ...,
    boundary: Any = ...,
    fillvalue: Any = ...,
) -> Any: ...
@system.dispatchable()
def correlate(in1: Any, in2: Any, mode: Any = ..., method: Any = ...) -> Any: ...
@system.dispatchable()
def correlate2d(
    in1: Any,
    in2: Any,
    mode: Any = ...,
    boundary: Any = ...,
    fillvalue: Any = ...,
) -> Any: ...
@system.dispatchable()
def csd(
    x: Any,
    y: Any,
    fs: Any = ...,
    window: Any = ...,
    nperseg: Any = ...,
    noverlap: Any = ...,
    nfft: Any = ...,
    detrend: Any = ...,
    return_onesided: Any = ...,
    scaling: Any = ...,
    axis: Any = ...,
    average: Any = ...,
) -> Any: ...
@system.dispatchable()
def cspline1d(signal: Any, lamb: Any = ...) -> Any: ...
@system.dispatchable()
def cspline1d_eval(cj: Any, newx: Any, dx: Any = ..., x0: Any = ...) -> Any: ...
@system.dispatchable()
def cspline2d(signal: Any, lamb: Any = ..., precision: Any = ...) -> Any: ...
@system.dispatchable()
def czt(x: Any, m: Any = ..., w: Any = ..., a: Any = ..., *, axis: Any = ...) -> Any: ...
@system.dispatchable()
def dbode(system: Any, w: Any = ..., n: Any = ...) -> Any: ...
@system.dispatchable()
def decimate(
    x: Any,
    q: Any,
    n: Any = ...,
    ftype: Any = ...,
    axis: Any = ...,
    zero_phase: Any = ...,
) -> Any: ...
@system.dispatchable()
def deconvolve(signal: Any, divisor: Any) -> Any: ...
@system.dispatchable()
def detrend(
    data: Any,
    axis: Any = ...,
    type: Any = ...,
    bp: Any = ...,
    overwrite_data: Any = ...,
) -> Any: ...
@system.dispatchable()
def dfreqresp(system: Any, w: Any = ..., n: Any = ..., whole: Any = ...) -> Any: ...
@system.dispatchable()
def dimpulse(system: Any, x0: Any = ..., t: Any = ..., n: Any = ...) -> Any: ...
@system.dispatchable()
def dlsim(system: Any, u: Any, t: Any = ..., x0: Any = ...) -> Any: ...
@system.dispatchable()
def dstep(system: Any, x0: Any = ..., t: Any = ..., n: Any = ...) -> Any: ...
@system.dispatchable()
def ellip(
    N: Any,
    rp: Any,
    rs: Any,
    Wn: Any,
    btype: Any = ...,
    analog: Any = ...,
    output: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def ellipord(wp: Any, ws: Any, gpass: Any, gstop: Any, analog: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def envelope(
    z: Any,
    bp_in: Any = ...,
    *,
    n_out: Any = ...,
    squared: Any = ...,
    residual: Any = ...,
    axis: Any = ...,
) -> Any: ...
@system.dispatchable()
def fftconvolve(in1: Any, in2: Any, mode: Any = ..., axes: Any = ...) -> Any: ...
@system.dispatchable()
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: Any = ...,
    padtype: Any = ...,
    padlen: Any = ...,
    method: Any = ...,
    irlen: Any = ...,
) -> Any: ...
@system.dispatchable()
def find_peaks(
    x: Any,
    height: Any = ...,
    threshold: Any = ...,
    distance: Any = ...,
    prominence: Any = ...,
    width: Any = ...,
    wlen: Any = ...,
    rel_height: Any = ...,
    plateau_size: Any = ...,
) -> Any: ...
@system.dispatchable()
def find_peaks_cwt(
    vector: Any,
    widths: Any,
    wavelet: Any = ...,
    max_distances: Any = ...,
    gap_thresh: Any = ...,
    min_length: Any = ...,
    min_snr: Any = ...,
    noise_perc: Any = ...,
    window_size: Any = ...,
) -> Any: ...
@system.dispatchable()
def findfreqs(num: Any, den: Any, N: Any, kind: Any = ...) -> Any: ...
@system.dispatchable()
def firls(numtaps: Any, bands: Any, desired: Any, *, weight: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def firwin(
    numtaps: Any,
    cutoff: Any,
    *,
    width: Any = ...,
    window: Any = ...,
    pass_zero: Any = ...,
    scale: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def firwin2(
    numtaps: Any,
    freq: Any,
    gain: Any,
    *,
    nfreqs: Any = ...,
    window: Any = ...,
    antisymmetric: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def firwin_2d(
    hsize: Any,
    window: Any,
    *,
    fc: Any = ...,
    fs: Any = ...,
    circular: Any = ...,
    pass_zero: Any = ...,
    scale: Any = ...,
) -> Any: ...
@system.dispatchable()
def freqresp(system: Any, w: Any = ..., n: Any = ...) -> Any: ...
@system.dispatchable()
def freqs(b: Any, a: Any, worN: Any = ..., plot: Any = ...) -> Any: ...
@system.dispatchable()
def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = ...) -> Any: ...
@system.dispatchable()
def freqz(
    b: Any,
    a: Any = ...,
    worN: Any = ...,
    whole: Any = ...,
    plot: Any = ...,
    fs: Any = ...,
    include_nyquist: Any = ...,
) -> Any: ...
@system.dispatchable()
def freqz_sos(sos: Any, worN: Any = ..., whole: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def freqz_zpk(z: Any, p: Any, k: Any, worN: Any = ..., whole: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def gauss_spline(x: Any, n: Any) -> Any: ...
@system.dispatchable()
def gausspulse(
    t: Any,
    fc: Any = ...,
    bw: Any = ...,
    bwr: Any = ...,
    tpr: Any = ...,
    retquad: Any = ...,
    retenv: Any = ...,
) -> Any: ...
@system.dispatchable()
def group_delay(system: Any, w: Any = ..., whole: Any = ..., fs: Any = ...) -> Any: ...
@system.dispatchable()
def hilbert(x: Any, N: Any = ..., axis: Any = ...) -> Any: ...
@system.dispatchable()
def hilbert2(x: Any, N: Any = ..., axes: Any = ...) -> Any: ...
@system.dispatchable()
def iirdesign(
    wp: Any,
    ws: Any,
    gpass: Any,
    gstop: Any,
    analog: Any = ...,
    ftype: Any = ...,
    output: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def iirfilter(
    N: Any,
    Wn: Any,
    rp: Any = ...,
    rs: Any = ...,
    btype: Any = ...,
    analog: Any = ...,
    ftype: Any = ...,
    output: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def impulse(system: Any, X0: Any = ..., T: Any = ..., N: Any = ...) -> Any: ...
@system.dispatchable()
def invres(r: Any, p: Any, k: Any, tol: Any = ..., rtype: Any = ...) -> Any: ...
@system.dispatchable()
def invresz(r: Any, p: Any, k: Any, tol: Any = ..., rtype: Any = ...) -> Any: ...
@system.dispatchable()
def istft(
    Zxx: Any,
    fs: Any = ...,
    window: Any = ...,
    nperseg: Any = ...,
    noverlap: Any = ...,
    nfft: Any = ...,
    input_onesided: Any = ...,
    boundary: Any = ...,
    time_axis: Any = ...,
    freq_axis: Any = ...,
    scaling: Any = ...,
) -> Any: ...
@system.dispatchable()
def lfilter(b: Any, a: Any, x: Any, axis: Any = ..., zi: Any = ...) -> Any: ...
@system.dispatchable()
def lfilter_zi(b: Any, a: Any) -> Any: ...
@system.dispatchable()
def lfiltic(b: Any, a: Any, y: Any, x: Any = ...) -> Any: ...
@system.dispatchable()
def lombscargle(
    x: Any,
    y: Any,
    freqs: Any,
    *,
    precenter: Any = ...,
    normalize: Any = ...,
    weights: Any = ...,
    floating_mean: Any = ...,
) -> Any: ...
@system.dispatchable()
def lp2bp(b: Any, a: Any, wo: Any = ..., bw: Any = ...) -> Any: ...
@system.dispatchable()
def lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any = ..., bw: Any = ...) -> Any: ...
@system.dispatchable()
def lp2bs(b: Any, a: Any, wo: Any = ..., bw: Any = ...) -> Any: ...
@system.dispatchable()
def lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any = ..., bw: Any = ...) -> Any: ...
@system.dispatchable()
def lp2hp(b: Any, a: Any, wo: Any = ...) -> Any: ...
@system.dispatchable()
def lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any = ...) -> Any: ...
@system.dispatchable()
def lp2lp(b: Any, a: Any, wo: Any = ...) -> Any: ...
@system.dispatchable()
def lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any = ...) -> Any: ...
@system.dispatchable()
def lsim(system: Any, U: Any, T: Any, X0: Any = ..., interp: Any = ...) -> Any: ...
@system.dispatchable()
def max_len_seq(nbits: Any, state: Any = ..., length: Any = ..., taps: Any = ...) -> Any: ...
@system.dispatchable()
def medfilt(volume: Any, kernel_size: Any = ...) -> Any: ...
@system.dispatchable()
def medfilt2d(input: Any, kernel_size: Any = ...) -> Any: ...
@system.dispatchable()
def minimum_phase(h: Any, method: Any = ..., n_fft: Any = ..., *, half: Any = ...) -> Any: ...
@system.dispatchable()
def normalize(b: Any, a: Any) -> Any: ...
@system.dispatchable()
def oaconvolve(in1: Any, in2: Any, mode: Any = ..., axes: Any = ...) -> Any: ...
@system.dispatchable()
def order_filter(a: Any, domain: Any, rank: Any) -> Any: ...
@system.dispatchable()
def peak_prominences(x: Any, peaks: Any, wlen: Any = ...) -> Any: ...
@system.dispatchable()
def peak_widths(
    x: Any,
    peaks: Any,
    rel_height: Any = ...,
    prominence_data: Any = ...,
    wlen: Any = ...,
) -> Any: ...
@system.dispatchable()
def periodogram(
    x: Any,
    fs: Any = ...,
    window: Any = ...,
    nfft: Any = ...,
    detrend: Any = ...,
    return_onesided: Any = ...,
    scaling: Any = ...,
    axis: Any = ...,
) -> Any: ...
@system.dispatchable()
def place_poles(
    A: Any,
    B: Any,
    poles: Any,
    method: Any = ...,
    rtol: Any = ...,
    maxiter: Any = ...,
) -> Any: ...
@system.dispatchable()
def qspline1d(signal: Any, lamb: Any = ...) -> Any: ...
@system.dispatchable()
def qspline1d_eval(cj: Any, newx: Any, dx: Any = ..., x0: Any = ...) -> Any: ...
@system.dispatchable()
def qspline2d(signal: Any, lamb: Any = ..., precision: Any = ...) -> Any: ...
@system.dispatchable()
def remez(
    numtaps: Any,
    bands: Any,
    desired: Any,
    *,
    weight: Any = ...,
    type: Any = ...,
    maxiter: Any = ...,
    grid_density: Any = ...,
    fs: Any = ...,
) -> Any: ...
@system.dispatchable()
def resample(
    x: Any,
    num: Any,
    t: Any = ...,
    axis: Any = ...,
    window: Any = ...,
    domain: Any = ...,
) -> Any: ...
@system.dispatchable()
def resample_poly(
    x: Any,
    up: Any,
    down: Any,
    axis: Any = ...,
    window: Any = ...,
    padtype: Any = ...,
    cval: Any = ...,
) -> Any: ...
@system.dispatchable()
def residue(b: Any, a: Any, tol: Any = ..., rtype: Any = ...) -> Any: ...
@system.dispatchable()
def residuez(b: Any, a: Any, tol: Any = ..., rtype: Any = ...) -> Any: ...
@system.dispatchable()
def savgol_filter(
    x: Any,
    window_length: Any,
    polyorder: Any,
    deriv: Any = ...,
    delta: Any = ...,
    axis: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
) -> Any: ...
@system.dispatchable()
def sawtooth(t: Any, width: Any = ...) -> Any: ...
@system.dispatchable()
def sepfir2d(input: Any, hrow: Any, hcol: Any) -> Any: ...
@system.dispatchable()
def sos2tf(sos: Any) -> Any: ...
@system.dispatchable()
def sos2zpk(sos: Any) -> Any: ...
@system.dispatchable()
def sosfilt(sos: Any, x: Any, axis: Any = ..., zi: Any = ...) -> Any: ...
@system.dispatchable()
def sosfilt_zi(sos: Any) -> Any: ...
@system.dispatchable()
def sosfiltfilt(
    sos: Any,
    x: Any,
    axis: Any = ...,
    padtype: Any = ...,
    padlen: Any = ...,
) -> Any: ...
@system.dispatchable()
def sosfreqz(*args: Any, **kwargs: Any) -> Any: ...
@system.dispatchable()
def spectrogram(
    x: Any,
    fs: Any = ...,
    window: Any = ...,
    nperseg: Any = ...,
    noverlap: Any = ...,
    nfft: Any = ...,
    detrend: Any = ...,
    return_onesided: Any = ...,
    scaling: Any = ...,
    axis: Any = ...,
    mode: Any = ...,
) -> Any: ...
@system.dispatchable()
def spline_filter(Iin: Any, lmbda: Any = ...) -> Any: ...
@system.dispatchable()
def square(t: Any, duty: Any = ...) -> Any: ...
@system.dispatchable()
def ss2tf(A: Any, B: Any, C: Any, D: Any, input: Any = ...) -> Any: ...
@system.dispatchable()
def ss2zpk(A: Any, B: Any, C: Any, D: Any, input: Any = ...) -> Any: ...
@system.dispatchable()
def step(system: Any, X0: Any = ..., T: Any = ..., N: Any = ...) -> Any: ...
@system.dispatchable()
def stft(
    x: Any,
    fs: Any = ...,
    window: Any = ...,
    nperseg: Any = ...,
    noverlap: Any = ...,
    nfft: Any = ...,
    detrend: Any = ...,
    return_onesided: Any = ...,
    boundary: Any = ...,
    padded: Any = ...,
    axis: Any = ...,
    scaling: Any = ...,
) -> Any: ...
@system.dispatchable()
def sweep_poly(t: Any, poly: Any, phi: Any = ...) -> Any: ...
@system.dispatchable()
def symiirorder1(signal: Any, c0: Any, z1: Any, precision: Any = ...) -> Any: ...
@system.dispatchable()
def symiirorder2(input: Any, r: Any, omega: Any, precision: Any = ...) -> Any: ...
@system.dispatchable()
def tf2sos(b: Any, a: Any, pairing: Any = ..., *, analog: Any = ...) -> Any: ...
@system.dispatchable()
def tf2ss(num: Any, den: Any) -> Any: ...
@system.dispatchable()
def tf2zpk(b: Any, a: Any) -> Any: ...
@system.dispatchable()
def unique_roots(p: Any, tol: Any = ..., rtype: Any = ...) -> Any: ...
@system.dispatchable()
def upfirdn(
    h: Any,
    x: Any,
    up: Any = ...,
    down: Any = ...,
    axis: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
) -> Any: ...
@system.dispatchable()
def vectorstrength(events: Any, period: Any) -> Any: ...
@system.dispatchable()
def welch(
    x: Any,
    fs: Any = ...,
    window: Any = ...,
    nperseg: Any = ...,
    noverlap: Any = ...,
    nfft: Any = ...,
    detrend: Any = ...,
    return_onesided: Any = ...,
    scaling: Any = ...,
    axis: Any = ...,
    average: Any = ...,
) -> Any: ...
@system.dispatchable()
def whittaker_henderson(
    signal: Any,
    *,
    lamb: Any = ...,
    order: Any = ...,
    weights: Any = ...,
) -> Any: ...
@system.dispatchable()
def wiener(im: Any, mysize: Any = ..., noise: Any = ...) -> Any: ...
@system.dispatchable()
def zoom_fft(
    x: Any,
    fn: Any,
    m: Any = ...,
    *,
    fs: Any = ...,
    endpoint: Any = ...,
    axis: Any = ...,
) -> Any: ...
@system.dispatchable()
def zpk2sos(z: Any, p: Any, k: Any, pairing: Any = ..., *, analog: Any = ...) -> Any: ...
@system.dispatchable()
def zpk2ss(z: Any, p: Any, k: Any) -> Any: ...
@system.dispatchable()
def zpk2tf(z: Any, p: Any, k: Any) -> Any: ...
