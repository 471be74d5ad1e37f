"""The pair process in exact rational arithmetic, written from its definition."""

from fractions import Fraction


def naive_path(differences, n, shift, reach, rule, follows):
    """Return K_t after each item as fractions, and the item (from 1) of the logical stop or None.

    `n` is the size of the pool, or 0. Bets are the doubles that the definition gives, the same as in
    the product, and so is `follows`, the bet on each item that follows the items before it, None where
    nothing is bet: at a mean that rounding may have brought to the end of the range that is a bet of 0,
    as good as any other. Everything else is exact.
    """
    bets, weights = rule.bets.tolist(), [Fraction(w) for w in rule.weights.tolist()]
    if rule.plug:
        bets.append(None)
        weights = [w * (1 - Fraction(rule.plug)) for w in weights] + [Fraction(rule.plug)]
    shift, reach = Fraction(shift), Fraction(reach)
    products = [Fraction(1)] * len(bets)
    total, path = Fraction(0), []
    for t, value in enumerate(map(Fraction, differences), start=1):
        mean = -shift if n == 0 else (-n * shift - total) / (n - t + 1)
        if mean < -reach:
            return path, t
        if mean < reach and follows[t - 1] is not None:
            for k, size in enumerate(bets):
                stretch = Fraction(n, n - t + 1) if n else 1
                cap = Fraction(rule.cap) / (reach + mean) if reach + mean > 0 else None
                wanted = Fraction(follows[t - 1])
                if size is not None:
                    wanted = Fraction(size) * stretch / reach
                used = wanted if cap is None else min(wanted, cap)
                products[k] *= 1 + used * (value - mean)
        path.append(sum(w * p for w, p in zip(weights, products, strict=True)))
        total += value
    return path, None
