"""The pair process in exact rational arithmetic, written from its definition."""

from fractions import Fraction

CAP, RATIO, LARGEST = 0.95, 1.6, 8.0


def naive_path(differences, n, shift, reach, bets, weights):
    """Return K_t after each item as fractions, and the item (from 1) of the logical stop or None.

    `n` is the size of the pool, or 0. Bets are the doubles that the definition gives, the same as in
    the product; everything else is exact.
    """
    shift, reach = Fraction(shift), Fraction(reach)
    products = [Fraction(1)] * len(bets)
    total, path = Fraction(0), []
    for t, value in enumerate(map(Fraction, differences), start=1):
        mean = -shift if n == 0 else (-n * shift - total) / (n - t + 1)
        if mean < -reach:
            return path, t
        if mean < reach:
            for k, size in enumerate(bets):
                stretch = Fraction(n, n - t + 1) if n else 1
                cap = Fraction(CAP) / (reach + mean) if reach + mean > 0 else None
                wanted = Fraction(size) * stretch / reach
                used = wanted if cap is None else min(wanted, cap)
                products[k] *= 1 + used * (value - mean)
        path.append(sum(Fraction(w) * p for w, p in zip(weights, products, strict=True)))
        total += value
    return path, None
