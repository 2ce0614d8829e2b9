"""The cells of LSTM and GRU, which PyTorch calls as one operator on a device."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    for operator, function in cells(xp).items():
        environment.register_op(operator, function)


def cells(xp: Any) -> dict[Any, Any]:
    """Return them by operator, written in the functions of an array library."""
    found: dict[Any, Any] = {}

    def op(operator: Any) -> Any:
        return partial(found.setdefault, operator)

    def sigmoid(x: Any) -> Any:
        return 0.5 + 0.5 * xp.tanh(0.5 * x)

    def with_bias(gates: Any, bias: Any) -> Any:
        return gates if bias is None else gates + bias

    def of_bias(gates: Any, has_bias: bool) -> Any:
        return xp.sum(gates, axis=0) if has_bias else None

    @op(aten._thnn_fused_lstm_cell.default)
    def lstm(x: Any, h: Any, c: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
        gates = with_bias(x, x_bias) + with_bias(h, h_bias)
        i, f, g, o = xp.split(gates, 4, axis=1)
        i, f, g, o = sigmoid(i), sigmoid(f), xp.tanh(g), sigmoid(o)
        c = f * c + i * g
        return o * xp.tanh(c), c, xp.concatenate((i, f, g, o), axis=1)

    @op(aten._thnn_fused_lstm_cell_backward_impl.default)
    def lstm_backward(of_h: Any, of_c: Any, c: Any, new_c: Any, saved: Any, has_bias: bool) -> Any:
        i, f, g, o = xp.split(saved, 4, axis=1)
        t = xp.tanh(new_c)
        of_h = xp.zeros_like(c) if of_h is None else of_h
        of_c = (0 if of_c is None else of_c) + of_h * o * (1 - t * t)
        parts = of_c * g * i * (1 - i), of_c * c * f * (1 - f), of_c * i * (1 - g * g)
        gates = xp.concatenate((*parts, of_h * t * o * (1 - o)), axis=1)
        return gates, of_c * f, of_bias(gates, has_bias)

    @op(aten._thnn_fused_gru_cell.default)
    def gru(x: Any, h: Any, state: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
        x_r, x_z, x_n = xp.split(with_bias(x, x_bias), 3, axis=1)
        h_r, h_z, h_n = xp.split(with_bias(h, h_bias), 3, axis=1)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        n = xp.tanh(x_n + r * h_n)
        return n + z * (state - n), xp.concatenate((r, z, n, state, h_n), axis=1)

    @op(aten._thnn_fused_gru_cell_backward.default)
    def gru_backward(g: Any, saved: Any, has_bias: bool) -> Any:
        r, z, n, state, h_n = xp.split(saved, 5, axis=1)
        of_n = g * (1 - z) * (1 - n * n)
        both = of_n * h_n * r * (1 - r), g * (state - n) * z * (1 - z)
        of_x = xp.concatenate((*both, of_n), axis=1)
        of_h = xp.concatenate((*both, of_n * r), axis=1)
        return of_x, of_h, g * z, of_bias(of_x, has_bias), of_bias(of_h, has_bias)

    return found
