"""An estimator of scikit-learn whose methods are dispatchable, with a backend for JAX."""
# ruff: noqa: N803, N806  # the names of scikit-learn

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError

pytest.importorskip("sklearn", reason="scikit-learn need not be installed")

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

HERE = __name__


def fit_with_jax(model: Any, X: Any, y: Any) -> Any:
    import jax.numpy as jnp

    means = X.mean(0), y.mean(0)
    centred, target = X - means[0], y - means[1]
    penalty = model.alpha * jnp.eye(X.shape[1])
    model.coef_ = jnp.linalg.solve(centred.T @ centred + penalty, centred.T @ target)
    model.intercept_ = means[1] - means[0] @ model.coef_
    model.n_features_in_ = X.shape[1]
    return model


def predict_with_jax(model: Any, X: Any) -> Any:
    return X @ model.coef_ + model.intercept_


system = BackendSystem(
    None,
    "RIDGE",
    ["numpy:ndarray"],
    [
        {
            "name": "jax",
            "primary_types": ["~jax:Array"],
            "functions": {
                f"{HERE}:Ridge.fit": {"function": fit_with_jax},
                f"{HERE}:Ridge.predict": {"function": predict_with_jax},
            },
        },
        {
            "name": "stable",
            "primary_types": ["numpy:ndarray"],
            "requires_opt_in": True,
            "functions": {f"{HERE}:Ridge.fit": {"function": f"{HERE}:fit_by_least_squares"}},
        },
    ],
)


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


def fit_by_least_squares(model: Any, X: Any, y: Any) -> Any:
    """Fit the same coefficients by an orthogonal factorization."""
    X, y = validate_data(model, X, y, y_numeric=True)
    rows = np.vstack([X - X.mean(0), model.alpha**0.5 * np.eye(X.shape[1])])
    target = y - y.mean(0)
    zeros = np.zeros((X.shape[1], *target.shape[1:]))
    model.coef_ = np.linalg.lstsq(rows, np.concatenate([target, zeros]))[0]
    model.intercept_ = y.mean(0) - X.mean(0) @ model.coef_
    return model


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
        with system.backend_opts(prioritize="stable"):
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


def test_a_backend_that_fits_and_does_no_more() -> None:
    """K7: it implements no `predict`, so that the library's own runs."""
    X, y = data()
    with system.backend_opts(prioritize="stable"):
        model = Ridge(100.0).fit(X, y)
    assert model._fit_backend == "stable"
    np.testing.assert_allclose(model.predict(X), Ridge(100.0).fit(X, y).predict(X))


def test_jax() -> None:
    """K7, K8: fitted with JAX, it predicts with JAX, after a pickle too."""
    jax = pytest.importorskip("jax", reason="JAX need not be installed")
    jnp = jax.numpy
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the first use of JAX
        model = Ridge(0.5).fit(jnp.asarray(X), jnp.asarray(y))
    own = Ridge(0.5).fit(X, y)
    for each in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        found = each.predict(jnp.asarray(X))
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(np.asarray(found), own.predict(X), rtol=1e-4)
    with pytest.raises(NoImplementationError, match="jax has run fit, and it does not know numpy"):
        model.predict(X)
    with pytest.raises(NoImplementationError, match="call fit again"):
        own.predict(jnp.asarray(X))
    np.testing.assert_allclose(model.fit(X, y).predict(X), own.predict(X))
