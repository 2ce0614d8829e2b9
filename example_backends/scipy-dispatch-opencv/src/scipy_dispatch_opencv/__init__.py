"""OpenCV for `scipy_dispatch`: filters and morphology of images."""
