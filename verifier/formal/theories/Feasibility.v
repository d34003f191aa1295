(** Checkers of separating matrices and of Farkas multipliers. *)

From Coq Require Import Arith Bool Lia List Reals Lra ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins.
Import ListNotations.
Local Open Scope R_scope.

(** What every checker about a selection starts with. *)
Definition about (D : dataset) (alpha : selection) : bool := well_formed D && selects D alpha.

Lemma about_spec D alpha : about D alpha = true ->
  well_formed D = true /\ selects D alpha = true.
Proof. apply andb_true_iff. Qed.

(** ** A matrix M / q that separates *)

Definition margins_from (D : dataset) (alpha : selection) (M : list (list Z)) (one : Z) : bool :=
  all (size D) (fun i =>
    let h := logits D M i in
    let top := nth (selected alpha i) h 0%Z in
    all_rejected D alpha i (fun t => Z.leb one (top - nth t h 0%Z))).

Definition check_feasible (D : dataset) (alpha : selection) (M : list (list Z)) (q : positive)
    : bool :=
  about D alpha && is_matrix (dim D) (dim D) M && margins_from D alpha M (unit_margin D q).

Lemma margins_from_spec D alpha M one i t : margins_from D alpha M one = true ->
  rejected D alpha i t ->
  (one <= nth (selected alpha i) (logits D M i) 0 - nth t (logits D M i) 0)%Z.
Proof.
  intros H Hr. pose proof (all_spec _ _ H i (proj1 Hr)) as E; simpl in E.
  apply Z.leb_le. exact (all_rejected_spec _ _ _ _ E t Hr).
Qed.

Lemma separates_rational D alpha M q : check_feasible D alpha M q = true ->
  separates D alpha (rational M q).
Proof.
  unfold check_feasible; rewrite !andb_true_iff; intros [[Ha HM] Hm] i t Hr.
  destruct (about_spec _ _ Ha) as [WF Hs].
  pose proof (margin_spec D WF alpha M q i t Hs (is_matrix_length _ _ _ HM) Hr) as E.
  pose proof (IZR_le _ _ (margins_from_spec _ _ _ _ _ _ Hm Hr)) as L. rewrite E in L.
  pose proof (unit_margin_pos D q). nra.
Qed.

Theorem feasible_sound D alpha M q : check_feasible D alpha M q = true -> feasible D alpha.
Proof. intros H; exists (rational M q). now apply separates_rational. Qed.

(** ** Farkas multipliers *)

Definition check_infeasible (D : dataset) (alpha : selection) (L : list (list Z)) : bool :=
  about D alpha && multipliers D alpha L
  && existsb (existsb (Z.ltb 0)) L
  && is_zero (combinationZ D alpha L).

Lemma coefficient_rejected D alpha L i t : selects D alpha = true ->
  multipliers D alpha L = true -> (i < size D)%nat ->
  (0 < coefficient L i t)%Z -> rejected D alpha i t.
Proof.
  intros Ha HL Hi Hc. destruct (multipliers_spec D alpha L HL i Hi) as (Hl & H0 & _).
  repeat split; [easy| |].
  - destruct (Nat.lt_ge_cases t (count D i)) as [|Hge]; [easy|].
    unfold coefficient in Hc. rewrite nth_overflow in Hc; lia.
  - intros ->. lia.
Qed.

Lemma positive_multiplier L : existsb (existsb (Z.ltb 0)) L = true ->
  exists i t, (i < length L)%nat /\ (0 < coefficient L i t)%Z.
Proof.
  rewrite existsb_exists; intros (l & Hin & Hl). rewrite existsb_exists in Hl.
  destruct Hl as (c & Hc & Hp).
  destruct (In_nth L l [] Hin) as (i & Hi & El), (In_nth l c 0%Z Hc) as (t & _ & Ec).
  exists i, t; split; [easy|]. unfold coefficient; rewrite El, Ec. now apply Z.ltb_lt.
Qed.

Theorem infeasible_sound D alpha L : check_infeasible D alpha L = true -> infeasible D alpha.
Proof.
  unfold check_infeasible; rewrite !andb_true_iff; intros [[[Ha HL] Hp] HC] (W & HW).
  destruct (about_spec _ _ Ha) as [WF Hs].
  destruct (positive_multiplier L Hp) as (i & t & Hi & Hc).
  assert (Hl : length L = size D).
  { unfold multipliers in HL; rewrite andb_true_iff, Nat.eqb_eq in HL; easy. }
  rewrite Hl in Hi.
  pose proof (coefficient_rejected D alpha L i t Hs HL Hi Hc) as Hr.
  set (f := fun i t => IZR (coefficient L i t) * margin D alpha W i t).
  assert (Hnn : forall j s, (j < size D)%nat -> (s < count D j)%nat -> 0 <= f j s).
  { intros j s Hj Hsj. destruct (multipliers_spec D alpha L HL j Hj) as (_ & H0 & Hge).
    specialize (Hge s). unfold f.
    destruct (Z.eq_dec (coefficient L j s) 0) as [E|E]; [rewrite E; lra|].
    assert (0 < IZR (coefficient L j s)) by (apply IZR_lt; lia).
    assert (Hrj : rejected D alpha j s).
    { apply (coefficient_rejected D alpha L); auto; lia. }
    specialize (HW j s Hrj). nra. }
  pose proof (total_term D f i t Hnn Hi (proj1 (proj2 Hr))) as Hle.
  assert (Hf : 0 < f i t).
  { apply Rmult_lt_0_compat; [apply IZR_lt; easy|apply HW, Hr]. }
  assert (Hz : total D f = 0).
  { unfold f. rewrite <- combination_inner. unfold inner.
    apply sum_zero; intros a Hla; apply sum_zero; intros b Hlb.
    pose proof (combinationZ_spec D alpha L a b) as E.
    rewrite (is_zero_spec _ a b HC) in E.
    assert (0 < Td D * Qd D) by (pose proof (Td_pos D); pose proof (Qd_pos D); nra).
    assert (combination D alpha (fun i t => IZR (coefficient L i t)) a b = 0) as -> by nra.
    ring. }
  lra.
Qed.

Lemma infeasible_unsolvable D alpha : infeasible D alpha -> ~ solvable D alpha.
Proof.
  intros H (W & HW & _). apply H; exists W. intros i t Hr. specialize (HW i t Hr). lra.
Qed.

Theorem infeasible_no_support D alpha L : check_infeasible D alpha L = true ->
  ~ solvable D alpha.
Proof. intros H; now apply infeasible_unsolvable, (infeasible_sound _ _ L). Qed.

Theorem infeasible_not_all_support D alpha L : check_infeasible D alpha L = true ->
  ~ all_support D alpha.
Proof. intros H [Hs _]; revert Hs; now apply (infeasible_no_support _ _ L). Qed.

Theorem infeasible_not_locally_optimal D alpha L : check_infeasible D alpha L = true ->
  ~ locally_optimal D alpha.
Proof. intros H [Hs _]; revert Hs; now apply (infeasible_no_support _ _ L). Qed.

(** ** K Qᵀ with few columns *)

Definition products (K Q : list (list Z)) : list (list Z) := map (times Q) K.

Definition check_low_rank (D : dataset) (alpha : selection) (m : nat) (K Q : list (list Z))
    (q : positive) : bool :=
  is_matrix (dim D) m K && is_matrix (dim D) m Q
  && check_feasible D alpha (products K Q) (q * q).

Lemma products_spec r m K Q a b : is_matrix r m K = true -> (a < r)%nat ->
  mat (products K Q) a b = sum m (fun k => mat K a k * mat Q b k).
Proof.
  intros HK Ha. unfold mat at 1, products.
  rewrite (nth_indep _ _ (times Q [])) by (now rewrite map_length, (is_matrix_length _ _ _ HK)).
  rewrite map_nth, (times_spec _ _ m) by (apply (is_matrix_row _ _ _ _ HK Ha)).
  apply sum_ext; intros; unfold mat; ring.
Qed.

Lemma margin_ext D alpha V W i t :
  (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b) ->
  margin D alpha V i t = margin D alpha W i t.
Proof.
  intros H. apply sum_ext; intros a Ha; apply sum_ext; intros b Hb. now rewrite H.
Qed.

Theorem low_rank_sound D alpha m K Q q : check_low_rank D alpha m K Q q = true ->
  low_rank_feasible D alpha m.
Proof.
  unfold check_low_rank; rewrite !andb_true_iff; intros [[HK HQ] H].
  exists (rational K q), (rational Q q). intros i t Hr.
  rewrite (margin_ext _ _ _ (rational (products K Q) (q * q))).
  { exact (separates_rational _ _ _ _ H i t Hr). }
  intros a b Ha Hb. rewrite rational_mat, (products_spec _ m _ _ _ _ HK Ha).
  unfold Rdiv; rewrite <- sum_scale_r; apply sum_ext; intros k _.
  rewrite !rational_mat, Pos2Z.inj_mul, mult_IZR. field. apply den_neq.
Qed.

Theorem low_rank_infeasible D alpha L : check_infeasible D alpha L = true ->
  forall m, ~ low_rank_feasible D alpha m.
Proof.
  intros H m (K & Q & HW). apply (infeasible_sound _ _ _ H).
  exists (fun a b => sum m (fun k => K a k * Q b k)).
  intros i t Hr. specialize (HW i t Hr). lra.
Qed.
