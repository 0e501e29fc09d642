"""The small language of claims: arithmetic, comparisons, a few functions, and COLUMN[FILE STEP CONDITION...].

COLUMN[...] stands for the values of a column in the chosen rows. If there are several, the arithmetic goes on problem
by problem, with the problems that both sides have, until a function such as `least` makes one number of them.
times_as_fast[FILE STEP OTHER CONDITION...] compares two contenders of decode.csv or waves.csv (launches.py).
"""

from __future__ import annotations

import ast
import operator
import re
import statistics
from collections.abc import Callable

from .launches import times_as_fast
from .records import Problem, Records, Refused

Values = list[tuple[Problem, float]]
Value = float | Values

ARITHMETIC: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}
COMPARISONS: dict[type, Callable] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}
# Of many values one number is made. Comparisons give 1 or 0 for each problem; `count` counts those that hold.
OF_MANY: dict[str, Callable[[list[float]], float]] = {
    "least": min, "most": max, "median": statistics.median,
    "count": lambda values: sum(value is not False for value in values),
}
# Of one number, or of each of many.
OF_EACH: dict[str, Callable[..., float]] = {
    "percent": lambda share: 100 * share,
    "more": lambda ratio: 100 * (ratio - 1),  # 1.06 is 6 % more
    "less": lambda ratio: 100 * (1 - ratio),  # 0.94 is 6 % less
}


def _pairs(left: Value, right: Value) -> list[tuple[Problem, float, float]]:
    """The operands of each problem that both sides have; a side with one value takes part in all of them."""
    if not isinstance(left, list):
        return [(problem, left, value) for problem, value in right]
    if not isinstance(right, list):
        return [(problem, value, right) for problem, value in left]
    others = dict(right)
    if len(others) < len(right) or len(dict(left)) < len(left):
        raise Refused("a problem has several rows, so that it is not clear which belong together: add a condition")
    both = [(problem, value, others[problem]) for problem, value in left if problem in others]
    if not both:
        raise Refused("the two sides have no problem in common")
    return both


def _combine(operation: Callable[[float, float], float], left: Value, right: Value) -> Value:
    if not isinstance(left, list) and not isinstance(right, list):
        return operation(left, right)
    return [(problem, operation(a, b)) for problem, a, b in _pairs(left, right)]


def _single(values: Values) -> Value:
    """One value is a plain number."""
    return values[0][1] if len(values) == 1 else values


class Evaluation:
    """Evaluates expressions over the records; a file without a folder is one of the device."""

    def __init__(self, records: Records, device: str) -> None:
        self._records = records
        self._device = device

    def value(self, text: str) -> float | list[float]:
        """The number of an expression; a list where it has several; True or False of a comparison."""
        # What stands in brackets is given to the parser of Python as one string.
        quoted = re.sub(r"\[([^][]*)\]", lambda brackets: f"[{brackets[1]!r}]", " ".join(text.split()))
        try:
            tree = ast.parse(quoted, mode="eval")
        except SyntaxError:
            raise Refused(f"this is no expression: {text}") from None
        try:
            found = self._of(tree.body)
        except ZeroDivisionError:
            raise Refused(f"this divides by zero: {text}") from None
        return [value for _, value in found] if isinstance(found, list) else found

    def _of(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int() | float() as constant):
                return constant
            case ast.Subscript(value=ast.Name(id=column), slice=ast.Constant(value=str() as words)):
                if column == "times_as_fast":
                    return _single(times_as_fast(self._records, words, self._device))
                return _single(self._records.values(column, words, self._device))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                return _combine(ARITHMETIC[type(op)], self._of(left), self._of(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return _combine(COMPARISONS[type(op)], self._of(left), self._of(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if arguments:
                return self._call(name, [self._of(argument) for argument in arguments])
        raise Refused(f"this is no part of an expression: {ast.unparse(node)}")

    def _call(self, name: str, arguments: list[Value]) -> Value:
        if name in OF_MANY:
            return OF_MANY[name]([value for argument in arguments for value in
                                  ([v for _, v in argument] if isinstance(argument, list) else [argument])])
        if name in OF_EACH and len(arguments) == 1:
            (argument,) = arguments
            if isinstance(argument, list):
                return [(problem, OF_EACH[name](value)) for problem, value in argument]
            return OF_EACH[name](argument)
        raise Refused(f"there is no function {name} of {len(arguments)} values: there are "
                      f"{' '.join([*OF_MANY, *OF_EACH])}")
