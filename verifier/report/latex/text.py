"""Text for LaTeX: plain text with every special character escaped, lists, matrices."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "-": "-{}", "`": "`{}",
    "–": "--", "—": "---", "…": r"\dots{}", "’": "'", "‘": "`", "“": "``", "”": "''",
    "\u00a0": "~", "\n": " ", "\t": " ", "ß": r"\ss{}", "æ": r"\ae{}", "ø": r"\o{}", "ł": r"\l{}",
    "Æ": r"\AE{}", "Ø": r"\O{}", "Ł": r"\L{}", "ı": r"\i{}"}
_TYPEWRITER = "\\{}^~_<>|\"'$"
_MATH = {
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "±": r"\pm", "−": "-", "×": r"\times", "·": r"\cdot",
    "∞": r"\infty", "‖": r"\|", "⟨": r"\langle", "⟩": r"\rangle", "∇": r"\nabla", "∈": r"\in",
    "→": r"\to", "←": r"\leftarrow", "∗": "*", "⊥": r"\perp", "∥": r"\parallel",
    "Σ": r"\sum", "Π": r"\prod", "√": r"\sqrt{\;}", "ℓ": r"\ell", "ᵀ": "^{T}", "½": r"\tfrac12",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon",
    "η": r"\eta", "θ": r"\theta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu",
    "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "ψ": r"\psi", "ω": r"\omega",
    "ϑ": r"\vartheta", "ϱ": r"\varrho", "Δ": r"\Delta", "Γ": r"\Gamma", "Λ": r"\Lambda",
    "Φ": r"\Phi", "Ψ": r"\Psi", "Θ": r"\Theta", "Ω": r"\Omega", "π": r"\pi", "ξ": r"\xi",
    "⊂": r"\subset", "⪰": r"\succeq", "≻": r"\succ", "≈": r"\approx", "∪": r"\cup",
    "∩": r"\cap", "∀": r"\forall", "∃": r"\exists", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow"}
_SCRIPTS = {c: (mark, unicodedata.normalize("NFKD", c).replace("−", "-"))
            for mark, scripts in (("^", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ"), ("_", "₀₁₂₃₄₅₆₇₈₉ₖ")) for c in scripts}
_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=",
            "\u0306": "u", "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H",
            "\u030c": "v", "\u0327": "c", "\u0323": "d"}
_SYMBOLS = {"W^mm_opt": r"W^{\mathrm{mm}}_{\mathrm{opt}}", "W^mm_α": r"W^{\mathrm{mm}}_{\alpha}",
            "W^mm": r"W^{\mathrm{mm}}", "W^fin": r"W^{\mathrm{fin}}", "L_*": "L_*",
            "‖W‖_*": r"\|W\|_*", "‖W‖_F": r"\|W\|_F", "‖W‖": r"\|W\|", "W_⊥": r"W_\perp"}
"""Spellings of the reports that are one symbol each, longer ones first."""
_POWER = re.compile(r"e[+-][0-9]+")
_SYMBOL = re.compile(f"({'|'.join(map(re.escape, _SYMBOLS))}|(?<=[0-9])e[+-][0-9]+)")


def escape(text: str) -> str:
    r"""*text* as LaTeX prints it in running text, whatever characters it holds.

    A character that the usual fonts lack appears as its code point.

    >>> print(escape("50%_α & é 中"))
    50\%\_$\alpha$ \& \'{e} [U+4E2D]
    """
    parts = _SYMBOL.split(unicodedata.normalize("NFC", text))
    return "".join(map(_part, parts))


def _part(part: str) -> str:
    if part in _SYMBOLS:
        return f"${_SYMBOLS[part]}$"
    if _POWER.fullmatch(part):
        return rf"$\cdot10^{{{int(part[1:])}}}$"
    return "".join(map(_character, part))


def _character(c: str) -> str:
    if c in _SPECIAL:
        return _SPECIAL[c]
    if c in _MATH:
        return f"${_MATH[c]}$"
    if c in _SCRIPTS:
        mark, script = _SCRIPTS[c]
        return f"${mark}{{{script}}}$"
    if " " <= c <= "~":
        return c
    base, *marks = list(unicodedata.normalize("NFD", c))
    if base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        return rf"\{_ACCENTS[marks[0]]}{{{base}}}"
    return f"[U+{ord(c):04X}]"


def code(text: str) -> str:
    """*text* in typewriter type, which may be broken after punctuation."""
    parts = []
    for c in unicodedata.normalize("NFC", text):
        # Typewriter fonts have these where ASCII has them, and nowhere else.
        parts.append(rf"\char{ord(c)}{{}}" if c in _TYPEWRITER else _character(c))
        if c in "/_.-,=":
            parts.append(r"\allowbreak{}")
    return rf"\texttt{{{''.join(parts)}}}"


def digest(sha256: str) -> str:
    """A hexadecimal digest that may be broken into groups."""
    groups = [sha256[k:k + 8] for k in range(0, len(sha256), 8)]
    return r"\texttt{" + r"\allowbreak ".join(groups) + "}"


def listed(items: Sequence[str]) -> str:
    """a, b and c."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "row"), count(0, "row"), count(2, "vertex", "vertices")
    ('1 row', '0 rows', '2 vertices')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def small_matrix(rows: Sequence[Sequence[str]]) -> str:
    """A matrix of spelled entries for a line of text."""
    body = r"\\".join("&".join(row) for row in rows)
    return rf"\bigl(\begin{{smallmatrix}}{body}\end{{smallmatrix}}\bigr)"


def big_matrix(rows: Sequence[Sequence[str]]) -> str:
    """A matrix of spelled entries for a display."""
    columns = "r" * len(rows[0])
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\left(\begin{{array}}{{{columns}}} {body} \end{{array}}\right)"


def vector(entries: Sequence[str]) -> str:
    """A row vector."""
    return "(" + r",\,".join(entries) + ")"
