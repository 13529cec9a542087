"""Shares with their exact (Clopper-Pearson) intervals of 95 %, for the judges."""
import math


def tail(n, k, p):
    """P(X >= k) of a binomial distribution."""
    if p <= 0:
        return 1.0 if k <= 0 else 0.0
    if p >= 1:
        return 1.0
    logs = (math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p)
            for i in range(k, n + 1))
    return min(1.0, sum(math.exp(x) for x in logs))


def bisect(rises_to):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rises_to(middle) else (middle, high)
    return (low + high) / 2


def interval(k, n):
    """Clopper-Pearson, 95 %."""
    low = 0.0 if k == 0 else bisect(lambda p: tail(n, k, p) >= 0.025)
    high = 1.0 if k == n else bisect(lambda p: 1 - tail(n, k + 1, p) <= 0.025)
    return low, high


def share(k, n):
    low, high = interval(k, n)
    return f"{k} of {n}, {100 * k / n:.0f} % (95 %: {100 * low:.1f} to {100 * high:.1f})"
