(** * Norms, limits and extremes

    What the convergence proofs of Basin.v and Trap.v need from analysis: the Frobenius norm, two
    criteria for sequences that tend to infinity or converge in direction, extremes of finitely
    many numbers. Independent of any dataset. *)

From Coq Require Import Arith List Reals Lra Lia Psatz ZArith.
From AttSVM Require Import Dataset Sums Loss.
Local Open Scope R_scope.

(** ** Norms *)

Lemma norm_nonneg : forall d W, 0 <= norm d W.
Proof. intros. apply sqrt_pos. Qed.

Lemma norm_square : forall d W, norm d W * norm d W = norm2 d W.
Proof. intros. apply sqrt_sqrt, norm2_nonneg. Qed.

Lemma norm_le : forall d W r, 0 <= r -> norm2 d W <= r * r -> norm d W <= r.
Proof.
  intros d W r P H. unfold norm. rewrite <- (sqrt_square r P). apply sqrt_le_1_alt, H.
Qed.

Lemma inner_norm : forall d V W, Rabs (inner d V W) <= norm d V * norm d W.
Proof.
  intros d V W. apply Rsqr_incr_0_var.
  - rewrite <- Rsqr_abs. unfold Rsqr. eapply Rle_trans; [apply cauchy_schwarz|].
    right. rewrite <- !norm_square. ring.
  - apply Rmult_le_pos; apply norm_nonneg.
Qed.

Lemma abs_le : forall x r, Rabs x <= r -> - r <= x <= r.
Proof.
  intros x r H. assert (P := Rle_abs x). assert (N := Rle_abs (- x)). rewrite Rabs_Ropp in N. lra.
Qed.

(** ** Exponentials *)

Lemma exp_le : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [L| ->]; [apply Rlt_le, exp_increasing, L|lra]. Qed.

Lemma exp_minus_ln : forall x, 0 < x -> exp (- ln x) = / x.
Proof. intros x P. rewrite exp_Ropp, exp_ln by exact P. reflexivity. Qed.

(** ** Extremes of finitely many numbers *)

Lemma finite_max : forall n (f : nat -> R), (0 < n)%nat ->
  exists j, (j < n)%nat /\ forall t, (t < n)%nat -> f t <= f j.
Proof.
  induction n as [|n IH]; intros f P; [lia|].
  destruct (Nat.eq_dec n 0) as [->|N].
  - exists O. split; [lia|]. intros t T. replace t with O by lia. lra.
  - destruct (IH f) as (j & J & B); [lia|].
    destruct (Rle_dec (f j) (f n)) as [L|L].
    + exists n. split; [lia|]. intros t T. destruct (Nat.eq_dec t n) as [->|]; [lra|].
      specialize (B t). apply Rle_trans with (f j); [apply B; lia|exact L].
    + exists j. split; [lia|]. intros t T. destruct (Nat.eq_dec t n) as [->|]; [lra|].
      apply B; lia.
Qed.

Lemma finite_middle : forall n (f : nat -> R) r, (0 < n)%nat ->
  (forall t u, (t < n)%nat -> (u < n)%nat -> f t - f u <= r) ->
  exists a, forall t, (t < n)%nat -> - (r / 2) <= f t - a <= r / 2.
Proof.
  intros n f r P B. destruct (finite_max n f P) as (j & J & Hj).
  destruct (finite_max n (fun t => - f t) P) as (k & K & Hk).
  exists ((f j + f k) / 2). intros t T. specialize (Hj t T). specialize (Hk t T).
  specialize (B j k J K). lra.
Qed.

(** ** Sequences *)

Lemma INR_unbounded : forall x, exists n, x < INR n.
Proof.
  intros x. exists (Z.to_nat (up x)). rewrite INR_IZR_INZ.
  apply Rlt_le_trans with (IZR (up x)); [apply archimed|]. apply IZR_le. lia.
Qed.

Lemma growing_to_infinity : forall (u : nat -> R) delta, 0 < delta ->
  (forall k, u k + delta * exp (- u k) <= u (S k)) -> cv_infty u.
Proof.
  intros u delta P H B. set (gain := delta * exp (- B)).
  assert (GP : 0 < gain) by (apply Rmult_lt_0_compat; [exact P|apply exp_pos]).
  assert (C : forall k, B < u k \/ u O + INR k * gain <= u k).
  { induction k as [|k IH]; [right; simpl; lra|].
    assert (I := H k). assert (E := exp_pos (- u k)). assert (0 < delta * exp (- u k)) by nra.
    destruct (Rlt_dec B (u k)) as [L|L]; [left; lra|].
    destruct IH as [IH|IH]; [lra|right]. rewrite S_INR.
    assert (gain <= delta * exp (- u k)).
    { apply Rmult_le_compat_l; [lra|]. apply exp_le. lra. }
    lra. }
  destruct (INR_unbounded ((B - u O) / gain)) as [N HN].
  exists N. intros n Hn. destruct (C n) as [L|L]; [exact L|].
  apply Rlt_le_trans with (2 := L).
  assert (INR N <= INR n) by (apply le_INR; exact Hn).
  apply Rmult_lt_compat_r with (r := gain) in HN; [|exact GP].
  unfold Rdiv in HN. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in HN by lra.
  assert (INR N * gain <= INR n * gain) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** The direction converges if the component along M grows like the norm. *)
Lemma direction_of_components : forall d (W : nat -> matrix) M, 0 < norm2 d M ->
  cv_infty (fun k => norm d (W k)) ->
  (forall eps, 0 < eps -> exists N, forall k, (N <= k)%nat ->
     norm d (W k) - inner d (W k) M / norm d M <= eps * norm d (W k)) ->
  converges_in_direction d W M.
Proof.
  intros d W M MP Inf H. split; [exact Inf|]. intros p q P Q eps He.
  assert (NP : 0 < norm d M) by (apply sqrt_lt_R0, MP).
  destruct (Inf 0) as [N1 H1]. destruct (H (eps * eps / 4)) as [N2 H2].
  { assert (0 < eps * eps) by (apply Rmult_lt_0_compat; exact He). lra. }
  exists (Nat.max N1 N2). intros k K.
  assert (RP := H1 k ltac:(lia)). specialize (H2 k ltac:(lia)). simpl in RP.
  set (r := norm d (W k)) in *. set (m := norm d M) in *.
  set (U := fun a b => W k a b / r - M a b / m).
  assert (NU : norm2 d U = 2 - 2 * (inner d (W k) M / (r * m))).
  { assert (E : norm2 d U = distance2 d (fun a b => / r * W k a b) (fun a b => / m * M a b)).
    { unfold distance2. rewrite !norm2_inner. apply inner_ext; intros; unfold U, Rdiv; ring. }
    rewrite E, distance2_expand, !norm2_inner, !inner_scale.
    rewrite (inner_comm d (W k) (fun a b => / r * W k a b)).
    rewrite (inner_comm d (W k) (fun a b => / m * M a b)).
    rewrite (inner_comm d M (fun a b => / m * M a b)).
    rewrite !inner_scale, <- !norm2_inner, <- !norm_square. fold r m.
    rewrite (inner_comm d M). field. split; lra. }
  assert (Small : norm2 d U < eps * eps).
  { rewrite NU. assert (eps * eps > 0) by nra.
    apply Rle_lt_trans with (2 * (eps * eps / 4)); [|lra].
    replace (2 - 2 * (inner d (W k) M / (r * m))) with (2 * ((r - inner d (W k) M / m) / r))
      by (field; split; lra).
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_reg_r with r; [exact RP|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact H2. }
  assert (En := norm2_entry d U p q P Q). change (Rabs (U p q) < eps).
  assert (UU : Rsqr (U p q) < Rsqr eps) by (unfold Rsqr; lra).
  apply Rsqr_lt_abs_0 in UU. rewrite (Rabs_right eps) in UU by lra. exact UU.
Qed.
