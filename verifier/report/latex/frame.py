"""What surrounds an appendix, so that it compiles alone and can also be read into a paper.

After ``\\begin{document}`` LaTeX makes ``\\@nodocument`` equal to ``\\relax``; so the file knows
whether a paper reads it, and brings its own preamble and bibliography only if none does.
"""

from __future__ import annotations

from importlib.metadata import version

PACKAGE = "attention-svm-verifier"

_BIBTEX = r"""@article{attsvm:theory,
  author  = {Tarzanagh, Davoud Ataee and Li, Yingcong and Thrampoulidis, Christos and Oymak, Samet},
  title   = {Transformers as Support Vector Machines},
  journal = {arXiv preprint arXiv:2308.16898v1},
  year    = {2023}
}
@misc{attsvm:software,
  title   = {attention-svm-verifier},
  note    = {Version VERSION; proofs in its directory docs/theory}
}"""

PREAMBLE = r"""% An appendix that compiles by itself (pdflatex, twice) or is read into a paper:
%   \appendix ... \input{this file}
% It needs the package amsmath. Before \input you may define
%   \newtheorem{attsvmproposition}{Proposition}[section]   to share a counter,
%   \newtheorem{attsvmremark}{Remark}[section]             likewise,
%   \newcommand{\attsvmheading}{\section}                  to change the level of the heading,
% and the BibTeX entries at the end of this file go into your bibliography.
\expandafter\ifx\csname @nodocument\endcsname\relax
  \let\attsvmend\relax
\else
  \documentclass[10pt,a4paper]{article}
  \usepackage{amsmath}
  \usepackage[margin=16mm,bottom=18mm,footskip=8mm]{geometry}
  \setlength{\topsep}{1.5pt plus 1pt}
  \setlength{\parindent}{0pt}
  \pagestyle{plain}
  \begin{document}
  \appendix
  \def\attsvmend{%
    \renewcommand{\section}[2]{\attsvmlead{References.}}
    \begin{thebibliography}{9}
    \small\setlength{\itemsep}{0pt}\setlength{\parsep}{0pt}
    \bibitem{attsvm:theory} D.~A. Tarzanagh, Y.~Li, C.~Thrampoulidis, S.~Oymak.
      Transformers as Support Vector Machines. arXiv:2308.16898v1, 2023.
    \bibitem{attsvm:software} attention-svm-verifier, version VERSION. Proofs:
      \texttt{docs/theory}.
    \end{thebibliography}
    \end{document}}
\fi
\ifdefined\attsvmheading\else\newcommand{\attsvmheading}{\section}\fi
\ifdefined\attsvmproposition\else\newtheorem{attsvmproposition}{Proposition}[section]\fi
\ifdefined\attsvmremark\else\newtheorem{attsvmremark}{Remark}[section]\fi
\ifdefined\attsvmproof\else
  \newcommand{\attsvmlead}[1]{\par\smallskip\noindent\textbf{#1} }
  \newcommand{\attsvmpart}[2]{\textup{\textbf{#1}~[#2]} }
  \newenvironment{attsvmproof}%
    {\par\small\noindent\textit{Proof.}\ \ignorespaces}%
    {\unskip\nobreak\hfil\penalty50\hskip1em\null\nobreak\hfil
     \hbox{\vrule\vbox{\hrule width .5em\kern.5em\hrule}\vrule}%
     \parfillskip=0pt\finalhyphendemerits=0\par}
  \newenvironment{attsvmfacts}%
    {\begin{list}{}{\footnotesize\setlength{\itemsep}{0pt}\setlength{\parsep}{0pt}%
     \setlength{\topsep}{2pt}\setlength{\leftmargin}{1em}\setlength{\itemindent}{-1em}%
     \setlength{\labelwidth}{0pt}\setlength{\labelsep}{0pt}}}%
    {\end{list}}
\fi
\begingroup
\ifx\attsvmend\relax\else\small\fi
\emergencystretch=4em
\allowdisplaybreaks""".replace("VERSION", version(PACKAGE))

END = "\n".join([
    r"\par\endgroup", "", "% BibTeX:",
    *(f"% {line}" for line in _BIBTEX.replace("VERSION", version(PACKAGE)).splitlines()),
    r"\attsvmend", ""])
