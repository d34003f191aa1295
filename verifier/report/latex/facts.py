"""The theorems that proofs use, each in one line, and where they are proved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """A theorem: its name, what it says, and its place in docs/theory of the software."""

    name: str
    says: str
    proof: str


_SLOPE = r"Let $\ell'<0$ on the range of the scores of every sample that has two. "
_W = r"{W}^{\mathrm{mm}}_{\alpha}"

FACTS: dict[str, Fact] = {
    "kkt": Fact(
        "KKT",
        r"If $W=\sum\lambda\varphi$, $\lambda\ge0$, has all margins $\ge1$, and $=1$ where "
        r"$\lambda>0$, then $W={W}^{\mathrm{mm}}_\alpha$ and $\|W\|_F^2=\sum\lambda$.",
        "geometry, Theorem 1.3"),
    "gordan": Fact(
        "Gordan", r"If $\sum\lambda_{i,t}\varphi_{i,t}=0$ for some $\lambda\ge0$, $\lambda\ne0$, "
                  r"no "
        rf"$W$ has all margins positive, and ${_W}$ does not exist.", "geometry, Theorem 1.2"),
    "gap": Fact(
        "duality gap", r"If $W$ has all margins $\ge1$ and $\lambda\ge0$, then "
        rf"$\|W-{_W}\|_F^2\le g=\|W\|_F^2-2\sum\lambda+\|\sum\lambda\varphi\|_F^2$; so a row with "
        r"$m_{i,t}(W)>1$ and $(m_{i,t}(W)-1)^2>\|\varphi_{i,t}\|_F^2\,g$ is no support index.",
        "geometry, Theorem 1.4 and Corollary 1.5"),
    "inverse": Fact(
        "verified KKT", r"Let $K$ be the Gram matrix of the features of rows $S$, "
        r"$\|I-RK\|_\infty\le\beta<1$ and $\epsilon=\|R(\mathbf 1-K\lambda)\|_\infty/(1-\beta)$. "
        r"If "
        r"$\lambda_\sigma>\epsilon$ on $S$, and $\langle\varphi_o,\sum\lambda_\sigma\varphi_\sigma"
        r"\rangle-\epsilon\sum_\sigma|\langle\varphi_o,\varphi_\sigma\rangle|>1$ for every row $o$ "
        rf"whose feature is not one of $S$, then ${_W}=\sum\lambda^*_\sigma\varphi_\sigma$ with "
        r"$K\lambda^*=\mathbf 1$, $|\lambda^*_\sigma-\lambda_\sigma|\le\epsilon$, and its support "
        r"indices are $S$ and the rows with a feature of $S$.", "geometry, Theorem 1.6"),
    "modular": Fact(
        "modular rank",
        r"An integer matrix with $r$ pivots, units modulo $p$, in elimination modulo $p$ "
        r"has rank $\ge r$ over $\mathbf Q$.",
        "geometry, Lemma 1.7"),
    "rank": Fact(
        "rank",
        r"The rank of ${W}^{\mathrm{mm}}_\alpha=\sum_S\lambda\varphi$ is at most that of "
        r"the queries of $S$ and that of its differences \cite[Lemma 1]{attsvm:theory}; it is at "
        r"most the rank of the differences of $A$ plus that of the queries of $S\setminus A$ for "
        r"any $A\subset S$.",
        "geometry, Theorem 1.9"),
    "independence": Fact(
        "independence",
        r"Independence of the features does not depend on $\alpha$ and makes "
        r"Att-SVM$(\alpha)$ feasible for every $\alpha$. It follows if the queries are "
        r"independent, and each sample's token differences \cite[Theorems 1, "
        r"8]{attsvm:theory}.",
        "geometry, Theorem 4.1"),
    "cycle": Fact(
        "cycle", r"If selected $\to$ rejected tokens of samples whose nonzero queries are positive "
        rf"multiples of each other close a cycle, ${_W}$ does not exist (the features, weighted, "
        r"telescope to $0$).", "geometry, Theorem 9.1"),
    "order": Fact(
        "order", r"Let the distinct tokens be linearly independent, and the distinct queries. If "
        r"for every query the tokens of its samples can be ordered such that selected tokens come "
        rf"before rejected ones of their sample, then ${_W}$ exists.", "geometry, Theorem 9.2"),
    "gradient": Fact(
        "gradient",
        r"$-n\nabla "
        r"L(W)=\sum_i\sum_t|\ell'(f_i)|\,s_{i,t}(\gamma_{i,t}-f_i)\,x_{i,t}z_i^{T}$; "
        r"$s_{i,t}=1/T_i$ at $W=0$.",
        "geometry, section 0"),
    "zero": Fact(
        "zero", r"For distinct rationals $f$, $\sum_f c_f|\ell'(f)|$ with rational $c_f$ vanishes "
        r"only identically: $e$ is transcendental.", "geometry, Propositions F.2 and F.3"),
    "s1": Fact(
        "S1", _SLOPE + r"If the features are independent and some sample has two different scores, "
        r"$\nabla L(W)\ne0$ for every $W$.",
        "stationary, S1"),
    "s2": Fact(
        "S2", _SLOPE + r"With $h_{i,t}=x_{i,t}^{T}Dz_i$: if $(\gamma_{i,t}-\gamma_{i,\tau})"
        r"(h_{i,t}-h_{i,\tau})\ge0$ for all $i,t,\tau$, and $>0$ once, then $\langle\nabla L(W),"
        r"D\rangle<0$ for every $W$.", "stationary, S2"),
    "s2a": Fact(
        "S2a", _SLOPE + r"If $Y_i\,u\cdot z_i\ge0$ for every sample with two different scores, and "
        r"$>0$ for one of them, then $\langle\nabla L(W),vu^{T}\rangle<0$ for every $W$.",
        "stationary, S2a"),
    "s3": Fact(
        "S3", _SLOPE + r"In a cell, where $f_i(W)$ of the split samples lies between two "
        r"neighbouring scores or is one, $\langle\nabla L(W),D\rangle<0$ if $h_{i,t}=x_{i,t}^{T}"
        r"Dz_i$ has $h_{i,t}\ge h_{i,\tau}$ for $\gamma_{i,t}>f_i>\gamma_{i,\tau}$ in split "
        r"samples, is monotone as in S2 in the others, and one inequality is strict.",
        "stationary, S3"),
    "krawczyk": Fact(
        "Krawczyk", r"Let $G(y)$, $J(y)=\partial G/\partial y$ be the coordinates of "
        r"$-n\nabla L$ on $W=\sum y_kB_k$, and $Y=\{|y_k-c_k|\le\rho\}$. If $|(CG(c))_k|+\rho\sum_m"
        r"\sup_Y|(I-CJ)_{km}|<\rho$ for every $k$, $G$ has exactly one zero in $Y$.",
        "stationary, S4"),
    "cover": Fact(
        "cover", r"If the row space of the features is covered by cells, and on each "
        r"$-n\langle\nabla L(W),\sum_kc_kB_k\rangle>0$ for some $c$, then $\nabla L(W)\ne0$ for "
        r"every $W$.", "stationary, S5"),
    "flat": Fact(
        "flat samples", r"A sample whose scores are all equal does not contribute to $\nabla L$.",
        "geometry, section 0"),
    "smooth": Fact(
        "smoothness", r"$\nabla L$ is $B$-Lipschitz, $B=\frac1n\sum_i\frac14\|z_i\|^2d_i^2(R_iM_i+"
        r"\frac14R_i^2N_i)$ with $d_i$ the diameter of the tokens, $R_i$ the range of the scores, "
        r"$M_i,N_i$ the largest $|\ell'|,|\ell''|$ on it; if $\eta B<2$ the loss never rises.",
        "global limits, Smoothness"),
    "low_norm": Fact(
        "low norm", r"Let the optimum be unique, Att-SVM$(\mathrm{opt})$ feasible, $\eta B<2$. If "
        r"$n(L(W_0)-L_*)<\ell(\gamma_i(2))-\ell(\gamma_i(1))$ for every $i$, descent from $W_0$ "
        r"converges in direction to $W^{\mathrm{mm}}_{\mathrm{opt}}$; $\gamma_i(1)>\gamma_i(2)$ "
        r"are the largest scores, $nL_*=\sum_i\ell(\gamma_i(1))$.",
        "global limits, Low-norm theorem"),
    "trap": Fact(
        "trap", r"Let the optimum be unique and $\eta B<2$. If $n(L(W_0)-L_*)<\ell(\frac12("
        r"\gamma_i(1)+\gamma_i(2)))-\ell(\gamma_i(1))$ for every $i$, then for ever "
        r"$s_{i,\mathrm{opt}_i}>\frac12$, all margins "
        r"under opt are positive and $\|W\|_F$ does not decrease.", "global limits, Trap theorem"),
    "first_step": Fact(
        "first step", r"The low-norm theorem holds from $W_1=-\eta_0\nabla L(0)$, whatever "
        r"$\eta_0>0$ (repairs \cite[Theorem 6]{attsvm:theory}).",
        "global limits, Repaired Theorem 6"),
    "stalled": Fact(
        "stalled descent", r"Let $n=1$, $\ell(u)=-u^3$, $f=\sum_ts_t\gamma_t$, and let $H=\frac14"
        r"\|z\|^2d^2R$ with $d$ the diameter of the tokens and $R$ the range of the scores. If "
        r"$f(W_1)<0$, $g_-+Hr\le\|\nabla f(W_1)\|_F\le g_+-Hr$, $2|f(W_1)|\le g_-r$ and "
        r"$9\eta|f(W_1)|g_+^2<2$, plain descent from $W_1$ never leaves the ball of radius $r$ "
        r"around it.",
        "stalled descent"),
    "products": Fact(
        "products", r"If the optimum is unique, all lower scores of a sample are equal, no feature "
        r"under opt is $0$ and $\langle\varphi_{i,t},\varphi_{j,\tau}\rangle\ge0$ for all rows, "
        r"gradient descent with $\eta B<2$ from every $W_0$ converges in direction to "
        r"$W^{\mathrm{mm}}_{\mathrm{opt}}$ (repairs \cite[Theorem 4]{attsvm:theory}).",
        "global limits, Repaired Theorem 4"),
    "cone": Fact(
        "cone", r"Let $M=W^{\mathrm{mm}}_\alpha$, $W=s'M+W_\perp$ with $W_\perp\perp M$ ($s'$ is "
        r"the clock), $u=\|\varphi\|$, $a=\langle\varphi,M\rangle$, $\kappa=a-1$, "
        r"$v=\sqrt{u^2-a^2/\|M\|^2}$ for each row, worse rows those with $\Delta>0$, rivals the "
        r"others. If (i) $a>\tau v$ for all rows, (ii) $s(\kappa-\tau v)>1$ for rivals, (iii) "
        r"$D_i<\Delta_{i,t}$ for worse rows, among them those with $\lambda>0$, (iv) "
        r"$\epsilon_a<1$, "
        r"then each step in $\{s'\ge s,\|W_\perp\|\le\tau s'\}$ raises the clock, and "
        r"$\|W_\perp\|^2$ by at most $2C$ times as much, "
        r"$C=\|M\|^2(E+s\tau\epsilon_v+\frac12\sigma("
        r"\bar v+\epsilon_v))/(1-\epsilon_a)$, $\bar v=\max v$ over worse rows. A start of clock "
        r"$\ge s$ with $\|W_\perp\|\le p<\tau s$ stays there and converges in direction to $M$ if "
        r"$C<\tau^2s$ or $C^2<\tau^2(2Cs-p^2)$. ($D_i,\epsilon_a,\epsilon_v,E,\sigma$ are "
        r"explicit in "
        r"the reference. This proves \cite[Theorem 7]{attsvm:theory} with constants.)",
        "basin, Theorems 1 and 2"),
    "residual": Fact(
        "residual", r"Let the features of the rows $S$ with $\lambda>0$ be independent, "
        r"$M=W^{\mathrm{mm}}_\alpha$, and write $W=s'M+\widetilde W+E$ with $E\perp M$ and the "
        r"explicit offset $\widetilde W$. Let $[\mu,\mu']$ hold the eigenvalues of "
        r"$\sum\lambda_\sigma\varphi_\sigma\varphi_\sigma^{T}$ across $M$ on the span of $S$. If "
        r"the start has clock $\ge s$ and $\|E_\parallel\|\le B$, and "
        r"$P<(1+\bar\nu)\mu_BB$, the drift is $<Z$ and $h(1+\bar\nu)(\mu_B+\mu'_B)<2$, then for "
        r"ever $\|E_\parallel\|\le B$, $E_\perp$ moves by at most $Z$, and descent converges in "
        r"direction to $M$. ($P,\bar\nu,\vartheta,h,\mu_B,\mu'_B$ and the drift are explicit "
        r"functions of the data, $s$, $B$, $Z$. Compare \cite[Theorem 7]{attsvm:theory}.)",
        "basin, Theorem 3"),
    "run": Fact(
        "verified run", r"One step of descent stretches distances in a small ball around its "
        r"centre by at most an explicit $\Lambda_k$; if the centre is stepped with error "
        r"$\epsilon_k$, the ball of radius $r_k$ is followed by one of radius "
        r"$\Lambda_kr_k+\epsilon_k$.",
        "basin, Theorem 4"),
    "exceptional": Fact(
        "exceptional selections", r"Of a selection $\alpha$ some rows are tested, the others kept: "
        r"for local optimality those with $\Delta_{i,t}\le0$ are tested, for Assumption D those of "
        r"optimal tokens. $\alpha$ is exceptional if $W^{\mathrm{mm}}_\alpha$ exists and no tested "
        r"row is a support index.", "directions, section 1"),
    "leaf": Fact(
        "leaf", r"Let $V=\sum\mu\varphi$, $\mu\ge0$, over the kept rows have least margin $m>0$ "
        r"there, $q=\|V\|_F^2$, $\Lambda=\sum\mu$. A tested row of margin $p<m$ with "
        r"$(m-p)^2q\ge\|\varphi\|_F^2(q^2-\Lambda^2m^2)$ shows that the selection is not "
        r"exceptional.", "directions, section 2"),
    "obstruction": Fact(
        "obstruction", r"If $V=\sum y\varphi$, $y>0$, over rows fixed by a partial selection has "
        r"$\langle V,\varphi\rangle\le0$ for every feature that a completion can keep, no "
        r"completion is exceptional.", "directions, section 3"),
    "motzkin": Fact(
        "Motzkin", r"If $\sum\lambda\varphi+\sum\mu\psi=0$ with $\lambda\ge0$, $\lambda\ne0$, no "
        r"$W$ has all $\langle\psi,W\rangle=0$ and all $\langle\varphi,W\rangle>0$.",
        "general, Theorem 8.1"),
    "gen_kkt": Fact(
        "KKT for sets", r"If $W=\sum\lambda\varphi+\sum\mu\psi$, $\lambda\ge0$, meets the "
        r"constraints, with margin $1$ where $\lambda>0$, it is the one of least norm, and "
        r"$\|W\|_F^2=\sum\lambda$.", "general, Theorem 8.2"),
    "gen_enclosure": Fact(
        "verified KKT for sets", r"Let $K$ be the Gram matrix of the features of $S$, rows outside "
        r"and inside of the sets, $b=1$ on the former and $0$ on the latter, "
        r"$\|I-RK\|_\infty\le\beta<1$ and $\epsilon=\|R(b-K\lambda)\|_\infty/(1-\beta)$. If "
        r"$\lambda_\sigma>\epsilon$ where $b_\sigma=1$, every other $\psi$ is some "
        r"$\sum c_\sigma\varphi_\sigma$ with $\sum c_\sigma b_\sigma=0$, and every other row $o$ "
        r"outside of the sets has such a sum with $\sum c_\sigma b_\sigma=1$ or $\langle\varphi_o,"
        r"\sum\lambda_\sigma\varphi_\sigma\rangle-\epsilon\sum_\sigma|\langle\varphi_o,"
        r"\varphi_\sigma\rangle|>1$, then $\sum\lambda^*_\sigma\varphi_\sigma$ with $K\lambda^*=b$ "
        r"is the $W$ of least norm that meets the constraints.", "general, Theorem 8.8"),
    "nuclear": Fact(
        "nuclear bounds", r"If $KQ^{T}$ has all margins $\ge1$ and $\lambda\ge0$, "
        r"$M=\sum\lambda\varphi$, $I-M^{T}M\succeq0$, then $\sum\lambda\le\min\|W\|_*\le"
        r"\tfrac12(\|K\|_F^2+\|Q\|_F^2)$ over all $W$ with margins $\ge1$.", "nuclear, Theorem 1"),
    "nuclear_two": Fact(
        "two optima", r"If $\lambda\ge0$, $M=\sum\lambda\varphi$, $I-M^{T}M\succeq0$, and "
        r"$P\succeq0$ has trace $\sum\lambda$ and $MP$ all margins $\ge1$, then "
        r"$\|MP\|_*=\sum\lambda$ is the least nuclear norm.", "nuclear, section 2"),
    "nuclear_one": Fact(
        "one optimum", r"Let $g=\tfrac12(\|K\|_F^2+\|Q\|_F^2)-\sum\lambda$ and let $a,\kappa,\rho,b"
        r">0$ bound four least singular values of the pair from below. With "
        r"$\epsilon,\omega,\zeta$ "
        r"as in the reference, $\lambda>\epsilon$, $2\omega<1$ and $\|Q\|_F^2U\zeta<b(1-2\omega)$ "
        r"imply that the optimum is unique, and $U\zeta\,\tfrac12(\|K\|_F^2+\|Q\|_F^2)+\delta<b$ "
        r"that its rank is $r$.", "nuclear, Theorem 3"),
    "signs": Fact(
        "signs", r"Some $kq^{T}$ has all margins positive iff for some signs $s_i=\pm1$, $s_0=1$, "
        r"some $q$ has all $s_iz_i\cdot q>0$ and some $k$ all $s_i(x_{i,\alpha_i}-x_{i,t})\cdot "
        r"k>0$.", "nuclear, Theorem 4"),
    "ball": Fact(
        "ball of datasets", r"If every entry of $X,z,v$ moves by at most $\varepsilon$, "
        r"$\delta^{T}Wz$ falls by at most $2\varepsilon\|Wz\|_1+\varepsilon\|W^{T}\delta\|_1+"
        r"2\varepsilon^2\sum|W|$ and a gap by at most $\varepsilon(2\|v\|_1+\|\delta\|_1)+"
        r"2\varepsilon^2d$; positive margins make the selection feasible, positive gaps of all "
        r"rejected tokens then locally optimal.", "robustness, Theorem R.1"),
    "ball_kkt": Fact(
        "KKT on a ball", r"If over the ball $\|I-RK\|_\infty<1$, the multipliers of $S$ stay "
        r"positive and all other margins above $1$, $S$ are the support indices of "
        r"$W^{\mathrm{mm}}_\alpha$ on the whole ball; $\alpha$ is locally optimal there if their "
        r"gaps stay positive.", "robustness, Theorem R.2"),
    "ball_rank": Fact(
        "rank on a ball", r"$\|I-AB\|_\infty<1$ makes the rows of $A$ independent; if its entries "
        r"move by at most $\omega$, the row sums of $|AB|$ move by at most $\omega\sum|B|$.",
        "robustness, Theorem R.3"),
    "mixture": Fact(
        "best mixtures", r"For $h(x)=v\cdot x-\lambda\|x\|^2$, $\lambda>0$: where $Y_i=1$, $s$ has "
        r"the largest $h(o)$ iff $(x_{i,t}-o)\cdot(v-2\lambda o)\le0$ for every $t$, and all such "
        r"$s$ have one $o$; where $Y_i=-1$, iff $h(o)=\min_th(x_{i,t})$.",
        "general, Proposition 8.6"),
    "ray": Fact(
        "invariant ray", r"The profile of tokens $t,\tau$, $\gamma_{i,t}>\gamma_{i,\tau}$, is the "
        r"multiset of $2h_{i,p}-h_{i,t}-h_{i,\tau}$ (with $\gamma_{i,p}$ unless $\ell'$ is "
        r"constant) "
        r"over the tokens $p$, $h_{i,t}=x_{i,t}^{T}Dz_i$. If the sum of $(\gamma_{i,t}-\gamma_{i,"
        r"\tau})(x_{i,t}-x_{i,\tau})z_i^{T}$ over each profile is $c_kD$, $c_k\ge0$, one $>0$, "
        r"descent by any rule and step from any $rD$ stays on the line and converges in direction "
        r"to $D$.", "invariant ray, Theorem"),
}
