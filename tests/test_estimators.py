"""An estimator of scikit-learn whose methods are dispatchable: `decides` and `follows`."""
# ruff: noqa: N803, N806  # the names of scikit-learn

from __future__ import annotations

import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem

pytest.importorskip("sklearn", reason="scikit-learn need not be installed")

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

system = BackendSystem(None, "RIDGE", ["numpy:ndarray"])


class Ridge(RegressorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]  # untyped classes
    """Linear regression with a penalty."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    @system.dispatchable(["X", "y"], decides=True)
    def fit(self, X: Any, y: Any) -> Any:
        """Fit the coefficients."""
        X, y = validate_data(self, X, y, y_numeric=True)
        centred, target = X - X.mean(0), y - y.mean(0)
        penalty = self.alpha * np.eye(X.shape[1])
        self.coef_ = np.linalg.solve(centred.T @ centred + penalty, centred.T @ target)
        self.intercept_ = y.mean(0) - X.mean(0) @ self.coef_
        return self

    @system.dispatchable("X", follows="fit")
    def predict(self, X: Any) -> Any:
        """Predict the target."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return X @ self.coef_ + self.intercept_


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(20)
    X = rng.normal(size=(40, 3))
    return X, X @ np.array([1.0, -2.0, 3.0]) + 4.0


def test_scikit_learns_own_checks_pass() -> None:
    """K7, K8: all of `check_estimator`; a dispatched method is a method like others."""
    with warnings.catch_warnings():
        # The check of array API input needs a variable that is set before SciPy is imported.
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(Ridge())


def test_it_works_in_the_tools_of_scikit_learn() -> None:
    """K8: clones, pipelines and searches make instances of their own."""
    X, y = data()
    assert cross_val_score(Ridge(0.1), X, y).mean() > 0.99
    search = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0]})
    assert search.fit(X, y).best_params_ == {"ridge__alpha": 0.1}
    model = Ridge().fit(X, y)
    assert model._fit_backend == "default"
    assert not hasattr(clone(model), "_fit_backend")
