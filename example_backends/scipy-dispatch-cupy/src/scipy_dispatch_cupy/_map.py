"""The functions that CuPy has under SciPy's names.

``tests/signatures.json`` has CuPy's signatures of them; a test compares both with CuPy's sources.
"""

from __future__ import annotations

_NAMES = {
    "ndimage": """
        affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
        binary_hit_or_miss binary_opening binary_propagation black_tophat center_of_mass
        convolve convolve1d correlate correlate1d distance_transform_edt extrema find_objects
        fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform gaussian_filter
        gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace generic_filter
        generic_filter1d generic_gradient_magnitude generic_laplace grey_closing grey_dilation
        grey_erosion grey_opening histogram iterate_structure label labeled_comprehension
        laplace map_coordinates maximum maximum_filter maximum_filter1d maximum_position mean
        median median_filter minimum minimum_filter minimum_filter1d minimum_position
        morphological_gradient morphological_laplace percentile_filter prewitt rank_filter
        rotate shift sobel spline_filter spline_filter1d standard_deviation sum sum_labels
        uniform_filter uniform_filter1d value_indices variance white_tophat zoom
    """,
    "signal": """
        abcd_normalize argrelextrema argrelmax argrelmin band_stop_obj bilinear bilinear_zpk
        bode butter buttord cheb1ord cheb2ord cheby1 cheby2 check_COLA check_NOLA chirp
        choose_conv_method coherence cont2discrete convolve convolve2d correlate correlate2d csd
        cspline1d cspline1d_eval cspline2d cwt czt dbode decimate deconvolve detrend dfreqresp
        dimpulse dlsim dstep ellip ellipord fftconvolve filtfilt find_peaks findfreqs firls
        firwin firwin2 freqresp freqs freqs_zpk freqz freqz_sos freqz_zpk gauss_spline
        gausspulse group_delay hilbert hilbert2 iirdesign iirfilter impulse invres invresz istft
        lfilter lfilter_zi lfiltic lombscargle lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk
        lp2lp lp2lp_zpk lsim max_len_seq medfilt medfilt2d minimum_phase normalize oaconvolve
        order_filter peak_prominences peak_widths periodogram place_poles qmf qspline1d
        qspline1d_eval qspline2d resample resample_poly residue residuez savgol_filter sawtooth
        sepfir2d sos2tf sos2zpk sosfilt sosfilt_zi sosfiltfilt sosfreqz spectrogram
        spline_filter square ss2tf ss2zpk step stft sweep_poly symiirorder1 symiirorder2 tf2sos
        tf2ss tf2zpk unique_roots upfirdn vectorstrength welch wiener zoom_fft zpk2sos zpk2ss
        zpk2tf
    """,
    "fft": """
        dct dctn dst dstn fft fft2 fftn fftshift fht hfft hfft2 hfftn idct idctn idst idstn ifft
        ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn
    """,
}
FUNCTIONS = {module: tuple(names.split()) for module, names in _NAMES.items()}
"""The names, by module."""
