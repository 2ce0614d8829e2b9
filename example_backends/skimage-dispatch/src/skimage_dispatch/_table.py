"""The dispatchable functions and the parameters that they dispatch on. Data only.

A parameter is dispatched on if scikit-image documents that it takes an array, to read or to fill.
Settings do not count, even if they may be arrays (`sigma`, `radii`): they say nothing about where
the data live. ``*H_elems`` may be a list of arrays, also a nested one. A parameter that the
installed release lacks is skipped, and so is a function. Functions that are not here take no array,
draw with matplotlib, or read and write files.
"""

from __future__ import annotations

TABLE: dict[str, dict[str, str]] = {
    "color": {
        "stains": "combine_stains",
        "arr": "convert_colorspace",
        "lab1 lab2": "deltaE_cie76 deltaE_ciede2000 deltaE_ciede94 deltaE_cmc",
        "image": "gray2rgb gray2rgba",
        "hed": "hed2rgb",
        "hsv": "hsv2rgb",
        "lab": "lab2lch lab2rgb lab2xyz",
        "label image": "label2rgb",
        "lch": "lch2lab",
        "luv": "luv2rgb luv2xyz",
        "rgb": (
            "rgb2gray rgb2hed rgb2hsv rgb2lab rgb2luv rgb2rgbcie rgb2xyz rgb2ycbcr rgb2ydbdr "
            "rgb2yiq rgb2ypbpr rgb2yuv separate_stains"
        ),
        "rgba": "rgba2rgb",
        "rgbcie": "rgbcie2rgb",
        "xyz": "xyz2lab xyz2luv xyz2rgb",
        "ycbcr": "ycbcr2rgb",
        "ydbdr": "ydbdr2rgb",
        "yiq": "yiq2rgb",
        "ypbpr": "ypbpr2rgb",
        "yuv": "yuv2rgb",
    },
    "draw": {
        "r c": "polygon polygon_perimeter",
        "polygon": "polygon2mask",
        "image": "set_color",
    },
    "exposure": {
        "image": (
            "adjust_gamma adjust_log adjust_sigmoid cumulative_distribution equalize_adapthist "
            "histogram is_low_contrast rescale_intensity"
        ),
        "image mask": "equalize_hist",
        "image reference": "match_histograms",
    },
    "feature": {
        "image": (
            "blob_dog blob_doh blob_log corner_fast corner_foerstner corner_harris "
            "corner_kitchen_rosenfeld corner_moravec corner_shi_tomasi daisy "
            "draw_haar_like_feature draw_multiblock_lbp graycomatrix hessian_matrix "
            "hessian_matrix_det hog local_binary_pattern multiscale_basic_features shape_index "
            "structure_tensor"
        ),
        "image mask": "canny",
        "image corners": "corner_subpix",
        "image corners mask": "corner_orientations",
        "image footprint labels": "corner_peaks peak_local_max",
        "image template": "match_template",
        "descriptors": "fisher_vector learn_gmm",
        "descriptors1 descriptors2": "match_descriptors",
        "P": "graycoprops",
        "int_image": "haar_like_feature multiblock_lbp",
        "*H_elems": "hessian_matrix_eigvals",
        "*A_elems": "structure_tensor_eigenvalues",
    },
    "filters": {
        "image": (
            "butterworth difference_of_gaussians frangi gabor hessian meijering rank_order sato "
            "threshold_li threshold_local threshold_mean threshold_niblack threshold_sauvola "
            "threshold_triangle unsharp_mask"
        ),
        "image low high": "apply_hysteresis_threshold",
        "image kernel": "correlate_sparse",
        "image mask": (
            "farid farid_h farid_v laplace prewitt prewitt_h prewitt_v roberts roberts_neg_diag "
            "roberts_pos_diag scharr scharr_h scharr_v sobel sobel_h sobel_v"
        ),
        "image out": "gaussian",
        "image footprint out": "median",
        "image *hist": (
            "threshold_isodata threshold_minimum threshold_multiotsu threshold_otsu threshold_yen"
        ),
        "data": "filter_forward filter_inverse wiener",
    },
    "filters.rank": {
        "image footprint out mask": (
            "autolevel autolevel_percentile enhance_contrast enhance_contrast_percentile entropy "
            "equalize geometric_mean gradient gradient_percentile majority maximum mean "
            "mean_bilateral mean_percentile median minimum modal noise_filter otsu percentile pop "
            "pop_bilateral pop_percentile subtract_mean subtract_mean_percentile sum "
            "sum_bilateral sum_percentile threshold threshold_percentile windowed_histogram"
        ),
    },
    "future": {
        "labels features": "fit_segmenter",
        "features": "predict_segmenter",
    },
    "graph": {
        "labels": "cut_normalized cut_threshold merge_hierarchical",
        "image mask": "pixel_graph",
        "labels edge_map": "rag_boundary",
        "image labels": "rag_mean_color",
        "array": "route_through_array",
        "arr": "shortest_path",
    },
    "measure": {
        "coords": "approximate_polygon moments_coords moments_coords_central subdivide_polygon",
        "image": (
            "block_reduce blur_effect centroid euler_number moments moments_central perimeter "
            "perimeter_crofton profile_line shannon_entropy"
        ),
        "image mask": "find_contours",
        "verts": "grid_points_in_poly",
        "image mu": "inertia_tensor",
        "image mu T": "inertia_tensor_eigvals",
        "image0_mask image1_mask mask": "intersection_coeff",
        "image0 image1_mask mask": "manders_coloc_coeff",
        "image0 image1 mask": "manders_overlap_coeff pearson_corr_coeff",
        "label_image": "label",
        "label_image intensity_image": "regionprops regionprops_table",
        "volume mask": "marching_cubes",
        "verts faces": "mesh_surface_area",
        "nu": "moments_hu",
        "mu": "moments_normalized",
        "points verts": "points_in_poly",
        "*data": "ransac",
    },
    "metrics": {
        "image_true image_test table": "adapted_rand_error",
        "im_true im_test": "contingency_table",
        "image0 image1": (
            "hausdorff_distance hausdorff_pair mean_squared_error normalized_mutual_information"
        ),
        "image_true image_test": "normalized_root_mse peak_signal_noise_ratio",
        "im1 im2": "structural_similarity",
        "image0 image1 table": "variation_of_information",
    },
    "morphology": {
        "image": "convex_hull_image convex_hull_object max_tree skeletonize thin",
        "image parent tree_traverser": (
            "area_closing area_opening diameter_closing diameter_opening max_tree_local_maxima"
        ),
        "image *footprint out": "black_tophat closing dilation erosion opening white_tophat",
        "image footprint": "flood flood_fill h_maxima h_minima local_maxima local_minima",
        "image out": ("isotropic_closing isotropic_dilation isotropic_erosion isotropic_opening"),
        "image mask": "medial_axis",
        "*footprint": "mirror_footprint pad_footprint",
        "*footprints": "footprint_from_sequence",
        "seed mask footprint": "reconstruction",
        "ar out": "remove_small_holes remove_small_objects",
        "label_image priority out": "remove_objects_by_distance",
    },
    "registration": {
        "reference_image moving_image": "optical_flow_ilk optical_flow_tvl1",
        "reference_image moving_image reference_mask moving_mask": "phase_cross_correlation",
    },
    "restoration": {
        "image": (
            "calibrate_denoiser denoise_bilateral denoise_nl_means denoise_tv_bregman "
            "denoise_tv_chambolle denoise_wavelet estimate_sigma unwrap_phase"
        ),
        "x": "cycle_spin",
        "image masks": "denoise_invariant",
        "image mask": "inpaint_biharmonic",
        "image psf": "richardson_lucy",
        "image kernel": "rolling_ball",
        "image psf reg": "unsupervised_wiener wiener",
    },
    "segmentation": {
        "image snake": "active_contour",
        "image init_level_set": "chan_vese morphological_chan_vese",
        "gimage init_level_set": "morphological_geodesic_active_contour",
        "labels mask out": "clear_border",
        "label_image": "expand_labels",
        "image": "felzenszwalb inverse_gaussian_gradient quickshift",
        "image mask": "slic",
        "label_img": "find_boundaries",
        "image label_img": "mark_boundaries",
        "s1 s2": "join_segmentations",
        "data labels": "random_walker",
        "label_field": "relabel_sequential",
        "image markers mask": "watershed",
    },
    "transform": {
        "src dst": "estimate_transform",
        "a": "frt2 ifrt2",
        "coords": "matrix_transform",
        "hspace angles dists": "hough_line_peaks",
        "hspaces radii": "hough_circle_peaks",
        "ii": "integrate",
        "image": (
            "downscale_local_mean hough_circle hough_ellipse hough_line integral_image "
            "probabilistic_hough_line pyramid_expand pyramid_gaussian pyramid_laplacian "
            "pyramid_reduce radon rescale resize resize_local_mean rotate swirl warp warp_polar"
        ),
        "radon_image": "iradon",
        "radon_image image": "iradon_sart",
    },
    "util": {
        "image": (
            "dtype_limits img_as_bool img_as_float img_as_float32 img_as_float64 img_as_int "
            "img_as_ubyte img_as_uint invert random_noise slice_along_axes"
        ),
        "ar": "crop unique_rows",
        "arr_in": "montage view_as_blocks view_as_windows",
        "array": "apply_parallel",
        "coords": "label_points",
        "image0 image1": "compare_images",
        "input_arr input_vals output_vals out": "map_array",
    },
}
"""By module, the functions by their dispatch parameters."""

SAME = {
    "morphology": {"label": "measure"},
    "segmentation": {"flood": "morphology", "flood_fill": "morphology"},
}
"""By module, the functions that are those of another module."""

WRITTEN = {
    "flood_fill": ("image",),
    "iradon_sart": ("image",),
    "montage": ("arr_in",),
    "random_walker": ("data",),
    "set_color": ("image",),
}
"""Functions that write, always or on demand, into other parameters than ``out``."""
