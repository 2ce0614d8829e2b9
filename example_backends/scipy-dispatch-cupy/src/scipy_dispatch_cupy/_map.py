"""Which functions CuPy has under SciPy's names.

Written by ``tools/write_map.py``, do not edit. For each function CuPy's signature, and the
parameters that `scipy_dispatch` dispatches on.
"""

# ruff: noqa: E501 - signatures are as long as they are

from __future__ import annotations

CUPY_VERSION = "14.2.0"

FUNCTIONS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "ndimage": {
        "affine_transform": (
            "(input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode='constant', cval=0.0, prefilter=True, *, texture_memory=False, float64_coords=False)",
            ("input", "matrix", "output"),
        ),
        "binary_closing": (
            "(input, structure=None, iterations=1, output=None, origin=0, mask=None, border_value=0, brute_force=False, *, axes=None)",
            ("input", "structure", "output", "mask"),
        ),
        "binary_dilation": (
            "(input, structure=None, iterations=1, mask=None, output=None, border_value=0, origin=0, brute_force=False, *, axes=None)",
            ("input", "structure", "mask", "output"),
        ),
        "binary_erosion": (
            "(input, structure=None, iterations=1, mask=None, output=None, border_value=0, origin=0, brute_force=False, *, axes=None)",
            ("input", "structure", "mask", "output"),
        ),
        "binary_fill_holes": (
            "(input, structure=None, output=None, origin=0, *, axes=None)",
            ("input", "structure", "output"),
        ),
        "binary_hit_or_miss": (
            "(input, structure1=None, structure2=None, output=None, origin1=0, origin2=None, *, axes=None)",
            ("input", "structure1", "structure2", "output"),
        ),
        "binary_opening": (
            "(input, structure=None, iterations=1, output=None, origin=0, mask=None, border_value=0, brute_force=False, *, axes=None)",
            ("input", "structure", "output", "mask"),
        ),
        "binary_propagation": (
            "(input, structure=None, mask=None, output=None, border_value=0, origin=0, *, axes=None)",
            ("input", "structure", "mask", "output"),
        ),
        "black_tophat": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "center_of_mass": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "convolve": (
            "(input, weights, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "weights", "output"),
        ),
        "convolve1d": (
            "(input, weights, axis=-1, output=None, mode='reflect', cval=0.0, origin=0)",
            ("input", "weights", "output"),
        ),
        "correlate": (
            "(input, weights, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "weights", "output"),
        ),
        "correlate1d": (
            "(input, weights, axis=-1, output=None, mode='reflect', cval=0.0, origin=0)",
            ("input", "weights", "output"),
        ),
        "distance_transform_edt": (
            "(image, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None, *, block_params=None, float64_distances=True)",
            ("input", "distances", "indices"),
        ),
        "extrema": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "find_objects": (
            "(input, max_label=0)",
            ("input",),
        ),
        "fourier_ellipsoid": (
            "(input, size, n=-1, axis=-1, output=None)",
            ("input", "output"),
        ),
        "fourier_gaussian": (
            "(input, sigma, n=-1, axis=-1, output=None)",
            ("input", "output"),
        ),
        "fourier_shift": (
            "(input, shift, n=-1, axis=-1, output=None)",
            ("input", "output"),
        ),
        "fourier_uniform": (
            "(input, size, n=-1, axis=-1, output=None)",
            ("input", "output"),
        ),
        "gaussian_filter": (
            "(input, sigma, order=0, output=None, mode='reflect', cval=0.0, truncate=4.0, radius=None, axes=None)",
            ("input", "output"),
        ),
        "gaussian_filter1d": (
            "(input, sigma, axis=-1, order=0, output=None, mode='reflect', cval=0.0, truncate=4.0)",
            ("input", "output"),
        ),
        "gaussian_gradient_magnitude": (
            "(input, sigma, output=None, mode='reflect', cval=0.0, *, axes=None, **kwargs)",
            ("input", "output"),
        ),
        "gaussian_laplace": (
            "(input, sigma, output=None, mode='reflect', cval=0.0, *, axes=None, **kwargs)",
            ("input", "output"),
        ),
        "generic_filter": (
            "(input, function, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "output"),
        ),
        "generic_filter1d": (
            "(input, function, filter_size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0)",
            ("input", "output"),
        ),
        "generic_gradient_magnitude": (
            "(input, derivative, output=None, mode='reflect', cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None)",
            ("input", "output"),
        ),
        "generic_laplace": (
            "(input, derivative2, output=None, mode='reflect', cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None)",
            ("input", "output"),
        ),
        "grey_closing": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "grey_dilation": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "grey_erosion": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "grey_opening": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "histogram": (
            "(input, min, max, bins, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "iterate_structure": (
            "(structure, iterations, origin=None)",
            ("structure",),
        ),
        "label": (
            "(input, structure=None, output=None)",
            ("input", "structure", "output"),
        ),
        "labeled_comprehension": (
            "(input, labels, index, func, out_dtype, default, pass_positions=False)",
            ("input", "labels", "index"),
        ),
        "laplace": (
            "(input, output=None, mode='reflect', cval=0.0, *, axes=None)",
            ("input", "output"),
        ),
        "map_coordinates": (
            "(input, coordinates, output=None, order=3, mode='constant', cval=0.0, prefilter=True)",
            ("input", "coordinates", "output"),
        ),
        "maximum": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "maximum_filter": (
            "(input, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, axes=None)",
            ("input", "footprint", "output"),
        ),
        "maximum_filter1d": (
            "(input, size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0)",
            ("input", "output"),
        ),
        "maximum_position": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "mean": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "median": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "median_filter": (
            "(input, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, axes=None)",
            ("input", "footprint", "output"),
        ),
        "minimum": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "minimum_filter": (
            "(input, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, axes=None)",
            ("input", "footprint", "output"),
        ),
        "minimum_filter1d": (
            "(input, size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0)",
            ("input", "output"),
        ),
        "minimum_position": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "morphological_gradient": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "morphological_laplace": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "percentile_filter": (
            "(input, percentile, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, axes=None)",
            ("input", "footprint", "output"),
        ),
        "prewitt": (
            "(input, axis=-1, output=None, mode='reflect', cval=0.0)",
            ("input", "output"),
        ),
        "rank_filter": (
            "(input, rank, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, axes=None)",
            ("input", "footprint", "output"),
        ),
        "rotate": (
            "(input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode='constant', cval=0.0, prefilter=True)",
            ("input", "output"),
        ),
        "shift": (
            "(input, shift, output=None, order=3, mode='constant', cval=0.0, prefilter=True)",
            ("input", "output"),
        ),
        "sobel": (
            "(input, axis=-1, output=None, mode='reflect', cval=0.0)",
            ("input", "output"),
        ),
        "spline_filter": (
            "(input, order=3, output=cupy.float64, mode='mirror')",
            ("input", "output"),
        ),
        "spline_filter1d": (
            "(input, order=3, axis=-1, output=cupy.float64, mode='mirror')",
            ("input", "output"),
        ),
        "standard_deviation": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "sum": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "sum_labels": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "uniform_filter": (
            "(input, size=3, output=None, mode='reflect', cval=0.0, origin=0, axes=None)",
            ("input", "output"),
        ),
        "uniform_filter1d": (
            "(input, size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0)",
            ("input", "output"),
        ),
        "value_indices": (
            "(arr, *, ignore_value=None, adaptive_index_dtype=False)",
            ("arr",),
        ),
        "variance": (
            "(input, labels=None, index=None)",
            ("input", "labels", "index"),
        ),
        "white_tophat": (
            "(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None)",
            ("input", "footprint", "structure", "output"),
        ),
        "zoom": (
            "(input, zoom, output=None, order=3, mode='constant', cval=0.0, prefilter=True, *, grid_mode=False)",
            ("input", "output"),
        ),
    },
    "signal": {
        "abcd_normalize": (
            "(A=None, B=None, C=None, D=None)",
            ("A", "B", "C", "D"),
        ),
        "argrelextrema": (
            "(data, comparator, axis=0, order=1, mode='clip')",
            ("data",),
        ),
        "argrelmax": (
            "(data, axis=0, order=1, mode='clip')",
            ("data",),
        ),
        "argrelmin": (
            "(data, axis=0, order=1, mode='clip')",
            ("data",),
        ),
        "band_stop_obj": (
            "(wp, ind, passb, stopb, gpass, gstop, type)",
            ("passb", "stopb"),
        ),
        "bilinear": (
            "(b, a, fs=1.0)",
            ("b", "a"),
        ),
        "bilinear_zpk": (
            "(z, p, k, fs)",
            ("z", "p"),
        ),
        "bode": (
            "(system, w=None, n=100)",
            ("*system", "w"),
        ),
        "butter": (
            "(N, Wn, btype='low', analog=False, output='ba', fs=None)",
            ("Wn",),
        ),
        "buttord": (
            "(wp, ws, gpass, gstop, analog=False, fs=None)",
            ("wp", "ws"),
        ),
        "cheb1ord": (
            "(wp, ws, gpass, gstop, analog=False, fs=None)",
            ("wp", "ws"),
        ),
        "cheb2ord": (
            "(wp, ws, gpass, gstop, analog=False, fs=None)",
            ("wp", "ws"),
        ),
        "cheby1": (
            "(N, rp, Wn, btype='low', analog=False, output='ba', fs=None)",
            ("Wn",),
        ),
        "cheby2": (
            "(N, rs, Wn, btype='low', analog=False, output='ba', fs=None)",
            ("Wn",),
        ),
        "check_COLA": (
            "(window, nperseg, noverlap, tol=1e-10)",
            ("window",),
        ),
        "check_NOLA": (
            "(window, nperseg, noverlap, tol=1e-10)",
            ("window",),
        ),
        "chirp": (
            "(t, f0, t1, f1, method='linear', phi=0, vertex_zero=True)",
            ("t",),
        ),
        "choose_conv_method": (
            "(in1, in2, mode='full')",
            ("in1", "in2"),
        ),
        "coherence": (
            "(x, y, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, detrend='constant', axis=-1)",
            ("x", "y", "window"),
        ),
        "cont2discrete": (
            "(system, dt, method='zoh', alpha=None)",
            ("*system",),
        ),
        "convolve": (
            "(in1, in2, mode='full', method='auto')",
            ("in1", "in2"),
        ),
        "convolve2d": (
            "(in1, in2, mode='full', boundary='fill', fillvalue=0)",
            ("in1", "in2"),
        ),
        "correlate": (
            "(in1, in2, mode='full', method='auto')",
            ("in1", "in2"),
        ),
        "correlate2d": (
            "(in1, in2, mode='full', boundary='fill', fillvalue=0)",
            ("in1", "in2"),
        ),
        "csd": (
            "(x, y, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, detrend='constant', return_onesided=True, scaling='density', axis=-1, average='mean')",
            ("x", "y", "window"),
        ),
        "cspline1d": (
            "(signal, lamb=0.0)",
            ("signal",),
        ),
        "cspline1d_eval": (
            "(cj, newx, dx=1.0, x0=0)",
            ("cj", "newx"),
        ),
        "cspline2d": (
            "(signal, lamb=0.0, precision=-1.0)",
            ("signal",),
        ),
        "cwt": (
            "(data, wavelet, widths)",
            ("data", "widths"),
        ),
        "czt": (
            "(x, m=None, w=None, a=1 + 0j, *, axis=-1)",
            ("x",),
        ),
        "dbode": (
            "(system, w=None, n=100)",
            ("*system", "w"),
        ),
        "decimate": (
            "(x, q, n=None, ftype='iir', axis=-1, zero_phase=True)",
            ("x",),
        ),
        "deconvolve": (
            "(signal, divisor)",
            ("signal", "divisor"),
        ),
        "detrend": (
            "(data, axis=-1, type='linear', bp=0, overwrite_data=False)",
            ("data", "bp"),
        ),
        "dfreqresp": (
            "(system, w=None, n=10000, whole=False)",
            ("*system", "w"),
        ),
        "dimpulse": (
            "(system, x0=None, t=None, n=None)",
            ("*system", "x0", "t"),
        ),
        "dlsim": (
            "(system, u, t=None, x0=None)",
            ("*system", "u", "t", "x0"),
        ),
        "dstep": (
            "(system, x0=None, t=None, n=None)",
            ("*system", "x0", "t"),
        ),
        "ellip": (
            "(N, rp, rs, Wn, btype='low', analog=False, output='ba', fs=None)",
            ("Wn",),
        ),
        "ellipord": (
            "(wp, ws, gpass, gstop, analog=False, fs=None)",
            ("wp", "ws"),
        ),
        "fftconvolve": (
            "(in1, in2, mode='full', axes=None)",
            ("in1", "in2"),
        ),
        "filtfilt": (
            "(b, a, x, axis=-1, padtype='odd', padlen=None, method='pad', irlen=None)",
            ("b", "a", "x"),
        ),
        "find_peaks": (
            "(x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None, rel_height=0.5, plateau_size=None)",
            ("x", "height", "threshold", "prominence", "width", "plateau_size"),
        ),
        "findfreqs": (
            "(num, den, N, kind='ba')",
            ("num", "den"),
        ),
        "firls": (
            "(numtaps, bands, desired, weight=None, fs=2)",
            ("bands", "desired", "weight"),
        ),
        "firwin": (
            "(numtaps, cutoff, width=None, window='hamming', pass_zero=True, scale=True, fs=2)",
            ("cutoff",),
        ),
        "firwin2": (
            "(numtaps, freq, gain, nfreqs=None, window='hamming', nyq=None, antisymmetric=False, fs=2.0)",
            ("freq", "gain"),
        ),
        "freqresp": (
            "(system, w=None, n=10000)",
            ("*system", "w"),
        ),
        "freqs": (
            "(b, a, worN=200, plot=None)",
            ("b", "a", "worN"),
        ),
        "freqs_zpk": (
            "(z, p, k, worN=200)",
            ("z", "p", "worN"),
        ),
        "freqz": (
            "(b, a=1, worN=512, whole=False, plot=None, fs=2 * pi, include_nyquist=False)",
            ("b", "a", "worN"),
        ),
        "freqz_sos": (
            "(sos, worN=512, whole=False, fs=2 * pi)",
            ("sos", "worN"),
        ),
        "freqz_zpk": (
            "(z, p, k, worN=512, whole=False, fs=2 * pi)",
            ("z", "p", "worN"),
        ),
        "gauss_spline": (
            "(x, n)",
            ("x",),
        ),
        "gausspulse": (
            "(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False)",
            ("t",),
        ),
        "group_delay": (
            "(system, w=512, whole=False, fs=2 * cupy.pi)",
            ("*system", "w"),
        ),
        "hilbert": (
            "(x, N=None, axis=-1)",
            ("x",),
        ),
        "hilbert2": (
            "(x, N=None)",
            ("x",),
        ),
        "iirdesign": (
            "(wp, ws, gpass, gstop, analog=False, ftype='ellip', output='ba', fs=None)",
            ("wp", "ws"),
        ),
        "iirfilter": (
            "(N, Wn, rp=None, rs=None, btype='band', analog=False, ftype='butter', output='ba', fs=None)",
            ("Wn",),
        ),
        "impulse": (
            "(system, X0=None, T=None, N=None)",
            ("*system", "X0", "T"),
        ),
        "invres": (
            "(r, p, k, tol=0.001, rtype='avg')",
            ("r", "p", "k"),
        ),
        "invresz": (
            "(r, p, k, tol=0.001, rtype='avg')",
            ("r", "p", "k"),
        ),
        "istft": (
            "(Zxx, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True, time_axis=-1, freq_axis=-2, scaling='spectrum')",
            ("Zxx", "window"),
        ),
        "lfilter": (
            "(b, a, x, axis=-1, zi=None)",
            ("b", "a", "x", "zi"),
        ),
        "lfilter_zi": (
            "(b, a)",
            ("b", "a"),
        ),
        "lfiltic": (
            "(b, a, y, x=None)",
            ("b", "a", "y", "x"),
        ),
        "lombscargle": (
            "(x, y, freqs, precenter=False, normalize=False)",
            ("x", "y", "freqs", "weights"),
        ),
        "lp2bp": (
            "(b, a, wo=1.0, bw=1.0)",
            ("b", "a"),
        ),
        "lp2bp_zpk": (
            "(z, p, k, wo=1.0, bw=1.0)",
            ("z", "p"),
        ),
        "lp2bs": (
            "(b, a, wo=1.0, bw=1.0)",
            ("b", "a"),
        ),
        "lp2bs_zpk": (
            "(z, p, k, wo=1.0, bw=1.0)",
            ("z", "p"),
        ),
        "lp2hp": (
            "(b, a, wo=1.0)",
            ("b", "a"),
        ),
        "lp2hp_zpk": (
            "(z, p, k, wo=1.0)",
            ("z", "p"),
        ),
        "lp2lp": (
            "(b, a, wo=1.0)",
            ("b", "a"),
        ),
        "lp2lp_zpk": (
            "(z, p, k, wo=1.0)",
            ("z", "p"),
        ),
        "lsim": (
            "(system, U, T, X0=None, interp=True)",
            ("*system", "U", "T", "X0"),
        ),
        "max_len_seq": (
            "(nbits, state=None, length=None, taps=None)",
            ("state", "taps"),
        ),
        "medfilt": (
            "(volume, kernel_size=None)",
            ("volume",),
        ),
        "medfilt2d": (
            "(input, kernel_size=3)",
            ("input",),
        ),
        "minimum_phase": (
            "(h, method='homomorphic', n_fft=None, half=True)",
            ("h",),
        ),
        "normalize": (
            "(b, a)",
            ("b", "a"),
        ),
        "oaconvolve": (
            "(in1, in2, mode='full', axes=None)",
            ("in1", "in2"),
        ),
        "order_filter": (
            "(a, domain, rank)",
            ("a", "domain"),
        ),
        "peak_prominences": (
            "(x, peaks, wlen=None)",
            ("x", "peaks"),
        ),
        "peak_widths": (
            "(x, peaks, rel_height=0.5, prominence_data=None, wlen=None)",
            ("x", "peaks", "*prominence_data"),
        ),
        "periodogram": (
            "(x, fs=1.0, window='boxcar', nfft=None, detrend='constant', return_onesided=True, scaling='density', axis=-1)",
            ("x", "window"),
        ),
        "place_poles": (
            "(A, B, poles, method='YT', rtol=0.001, maxiter=30)",
            ("A", "B", "poles"),
        ),
        "qmf": (
            "(hk)",
            ("hk",),
        ),
        "qspline1d": (
            "(signal, lamb=0.0)",
            ("signal",),
        ),
        "qspline1d_eval": (
            "(cj, newx, dx=1.0, x0=0)",
            ("cj", "newx"),
        ),
        "qspline2d": (
            "(signal, lamb=0.0, precision=-1.0)",
            ("signal",),
        ),
        "resample": (
            "(x, num, t=None, axis=0, window=None, domain='time')",
            ("x", "t", "window"),
        ),
        "resample_poly": (
            "(x, up, down, axis=0, window=('kaiser', 5.0), padtype='constant', cval=None)",
            ("x", "window"),
        ),
        "residue": (
            "(b, a, tol=0.001, rtype='avg')",
            ("b", "a"),
        ),
        "residuez": (
            "(b, a, tol=0.001, rtype='avg')",
            ("b", "a"),
        ),
        "savgol_filter": (
            "(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode='interp', cval=0.0)",
            ("x",),
        ),
        "sawtooth": (
            "(t, width=1.0)",
            ("t", "width"),
        ),
        "sepfir2d": (
            "(input, hrow, hcol)",
            ("input", "hrow", "hcol"),
        ),
        "sos2tf": (
            "(sos)",
            ("sos",),
        ),
        "sos2zpk": (
            "(sos)",
            ("sos",),
        ),
        "sosfilt": (
            "(sos, x, axis=-1, zi=None)",
            ("sos", "x", "zi"),
        ),
        "sosfilt_zi": (
            "(sos)",
            ("sos",),
        ),
        "sosfiltfilt": (
            "(sos, x, axis=-1, padtype='odd', padlen=None)",
            ("sos", "x"),
        ),
        "sosfreqz": (
            "(sos, worN=512, whole=False, fs=2 * pi)",
            ("sos", "worN"),
        ),
        "spectrogram": (
            "(x, fs=1.0, window=('tukey', 0.25), nperseg=None, noverlap=None, nfft=None, detrend='constant', return_onesided=True, scaling='density', axis=-1, mode='psd')",
            ("x", "window"),
        ),
        "spline_filter": (
            "(Iin, lmbda=5.0)",
            ("Iin",),
        ),
        "square": (
            "(t, duty=0.5)",
            ("t", "duty"),
        ),
        "ss2tf": (
            "(A, B, C, D, input=0)",
            ("A", "B", "C", "D"),
        ),
        "ss2zpk": (
            "(A, B, C, D, input=0)",
            ("A", "B", "C", "D"),
        ),
        "step": (
            "(system, X0=None, T=None, N=None)",
            ("*system", "X0", "T"),
        ),
        "stft": (
            "(x, fs=1.0, window='hann', nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True, boundary='zeros', padded=True, axis=-1, scaling='spectrum')",
            ("x", "window"),
        ),
        "sweep_poly": (
            "(t, poly, phi=0)",
            ("t", "poly"),
        ),
        "symiirorder1": (
            "(input, c0, z1, precision=-1.0)",
            ("signal",),
        ),
        "symiirorder2": (
            "(input, r, omega, precision=-1.0)",
            ("input",),
        ),
        "tf2sos": (
            "(b, a, pairing=None, *, analog=False)",
            ("b", "a"),
        ),
        "tf2ss": (
            "(num, den)",
            ("num", "den"),
        ),
        "tf2zpk": (
            "(b, a)",
            ("b", "a"),
        ),
        "unique_roots": (
            "(p, tol=0.001, rtype='min')",
            ("p",),
        ),
        "upfirdn": (
            "(h, x, up=1, down=1, axis=-1, mode='constant', cval=0)",
            ("h", "x"),
        ),
        "vectorstrength": (
            "(events, period)",
            ("events", "period"),
        ),
        "welch": (
            "(x, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, detrend='constant', return_onesided=True, scaling='density', axis=-1, average='mean')",
            ("x", "window"),
        ),
        "wiener": (
            "(im, mysize=None, noise=None)",
            ("im",),
        ),
        "zoom_fft": (
            "(x, fn, m=None, *, fs=2, endpoint=False, axis=-1)",
            ("x", "fn"),
        ),
        "zpk2sos": (
            "(z, p, k, pairing=None, *, analog=False)",
            ("z", "p"),
        ),
        "zpk2ss": (
            "(z, p, k)",
            ("z", "p"),
        ),
        "zpk2tf": (
            "(z, p, k)",
            ("z", "p"),
        ),
    },
    "fft": {
        "dct": (
            "(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "dctn": (
            "(x, type=2, s=None, axes=None, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "dst": (
            "(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "dstn": (
            "(x, type=2, s=None, axes=None, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "fft": (
            "(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "fft2": (
            "(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "fftn": (
            "(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "fftshift": (
            "(x, axes=None)",
            ("x",),
        ),
        "fht": (
            "(a, dln, mu, offset=0.0, bias=0.0)",
            ("a",),
        ),
        "hfft": (
            "(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "hfft2": (
            "(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "hfftn": (
            "(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "idct": (
            "(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "idctn": (
            "(x, type=2, s=None, axes=None, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "idst": (
            "(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "idstn": (
            "(x, type=2, s=None, axes=None, norm=None, overwrite_x=False)",
            ("x",),
        ),
        "ifft": (
            "(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "ifft2": (
            "(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "ifftn": (
            "(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "ifftshift": (
            "(x, axes=None)",
            ("x",),
        ),
        "ifht": (
            "(A, dln, mu, offset=0.0, bias=0.0)",
            ("A",),
        ),
        "ihfft": (
            "(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "ihfft2": (
            "(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "ihfftn": (
            "(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "irfft": (
            "(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "irfft2": (
            "(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "irfftn": (
            "(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "rfft": (
            "(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "rfft2": (
            "(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
        "rfftn": (
            "(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None)",
            ("x",),
        ),
    },
}
