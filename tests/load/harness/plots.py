"""Small plots in one style. matplotlib is imported late: a run that makes no plot does not need it."""

WIDTH_IN, HEIGHT_IN, DPI = 6.4, 3.2, 100


def _figure():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot.subplots(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI)


def _finish(figure, axes, path, title, x_label, y_label):
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x_label, fontsize=9)
    axes.set_ylabel(y_label, fontsize=9)
    axes.grid(alpha=0.3)
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=0)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})
    figure.clear()


def bars(path, title, y_label, groups, series, errors=None, logarithmic=False):
    """Grouped bars: `series` maps a name to one value per group, `errors` to (low, high) per group.
    logarithmic: whether the axis of the values is."""
    figure, axes = _figure()
    width = 0.8 / len(series)
    for i, (name, values) in enumerate(series.items()):
        positions = [g + (i - (len(series) - 1) / 2) * width for g in range(len(groups))]
        error = None
        if errors:
            error = [[v - low for v, (low, _) in zip(values, errors[name])],
                     [high - v for v, (_, high) in zip(values, errors[name])]]
        axes.bar(positions, values, width, label=name if len(series) > 1 else None, yerr=error, capsize=3)
    axes.set_xticks(range(len(groups)), groups)
    if logarithmic:
        axes.set_yscale("log")
    _finish(figure, axes, path, title, "", y_label)


def lying_bars(path, title, x_label, values):
    """One bar for each name, from the top down: for names too long to stand side by side."""
    figure, axes = _figure()
    positions = range(len(values))
    axes.barh(positions, list(values.values()), 0.8)
    axes.set_yticks(positions, list(values), fontsize=8)
    axes.invert_yaxis()
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x_label, fontsize=9)
    axes.grid(axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})
    figure.clear()


def lines(path, title, x_label, y_label, series, x_ticks=None, marks=()):
    """Lines: `series` maps a name to [(x, y)]; `marks` are (x, text) of vertical lines."""
    figure, axes = _figure()
    for name, points in series.items():
        marker = "o" if len(points) < 50 else None
        axes.plot(*zip(*points), marker=marker, markersize=4, label=name if len(series) > 1 else None)
    for x, text in marks:
        axes.axvline(x, linestyle="--", linewidth=1, color="grey")
        axes.annotate(text, (x, 0), xytext=(3, 6), textcoords="offset points", fontsize=8, color="grey")
    if x_ticks:
        axes.set_xscale("log", base=2)
        axes.set_xticks(x_ticks, [str(x) for x in x_ticks])
    _finish(figure, axes, path, title, x_label, y_label)
