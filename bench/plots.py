"""Defines the style of all plots: colors that color-blind people can distinguish, and little
ink."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

# Okabe & Ito 2008, without their yellow, which is too pale for lines.
BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, BLACK, GRAY = "#cc79a7", "#56b4e9", "#222222", "#999999"
COLORS = [BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, GRAY, "#8c564b", "#b8a000"]
COLORS += ["#5a3fa0", "#3b7a00", "#a03f6a"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "h", "<", ">", "p", "d"]

plt.rcParams.update(
    {
        "figure.dpi": 100, "figure.constrained_layout.use": True, "font.size": 10,
        "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
        "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
        "axes.prop_cycle": mpl.cycler(color=COLORS), "legend.frameon": False,
    }
)  # fmt: skip


def figure(columns=1, width=8.0, height=4.5, **more):
    """(figure, axes) of panels side by side; sizes in inches, 100 pixels each."""
    return plt.subplots(1, columns, figsize=(width, height), squeeze=False, **more)


def looks(names):
    """(name, color, marker) of each."""
    return zip(names, COLORS, MARKERS, strict=False)


def legend_above(fig, axes, columns):
    """A legend over the panels, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=columns)


def plain_numbers(axis):
    """1,000 instead of 10^3 on a logarithmic axis, 0.01 instead of 10^-2."""
    axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")


def plain_multiples(axis):
    """0.6, 0.8, 1, 2 on a logarithmic axis that spans few powers of ten."""
    axis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 1.5, 2, 3, 4, 6, 8)))
    axis.set_minor_locator(mpl.ticker.NullLocator())
    axis.set_major_formatter(lambda x, _: f"{x:g}")


def save(fig, output, name):
    output.mkdir(parents=True, exist_ok=True)
    fig.savefig(output / name, metadata={"Software": None})
    plt.close(fig)
    return name
