(** Checkers of exact solutions of Att-SVM(alpha) and of primal-dual pairs. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins Feasibility Existence Duality.
Import ListNotations.
Local Open Scope R_scope.

(** The denominator of Σ (L/q) φ over [combinationZ L]. *)
Definition combined_den (D : dataset) (q : positive) : positive :=
  (q * (token_den D * query_den D))%positive.

Lemma combined_den_IZR D q : IZR (Zpos (combined_den D q)) = IZR (Zpos q) * (Td D * Qd D).
Proof. unfold combined_den. now rewrite !Pos2Z.inj_mul, !mult_IZR. Qed.

(** The real multipliers L / q. *)
Definition real_multipliers (L : list (list Z)) (q : positive) (i t : nat) : R :=
  IZR (coefficient L i t) * / IZR (Zpos q).

Section Multipliers.
Variables (D : dataset) (alpha : selection) (L : list (list Z)) (q : positive).
Hypothesis HL : multipliers D alpha L = true.
Notation c := (real_multipliers L q).

Lemma real_dual : dual D alpha c.
Proof.
  intros i t Hi Ht. destruct (multipliers_spec D alpha L HL i Hi) as (_ & H0 & Hge).
  unfold real_multipliers. split.
  - apply Rmult_le_pos; [apply IZR_le, Hge|]. left; apply Rinv_0_lt_compat, den_pos.
  - intros ->. rewrite H0. ring.
Qed.

Lemma real_total : total D c = IZR (totalZ L) / IZR (Zpos q).
Proof.
  rewrite (totalZ_spec D alpha L HL). unfold Rdiv. rewrite (Rmult_comm _ (/ _)), <- total_scale.
  apply total_ext; intros; unfold real_multipliers; ring.
Qed.

Lemma real_combination a b :
  combination D alpha c a b = rational (combinationZ D alpha L) (combined_den D q) a b.
Proof.
  rewrite rational_mat, combinationZ_spec, combined_den_IZR.
  pose proof (Td_pos D); pose proof (Qd_pos D); pose proof (den_pos q).
  unfold Rdiv. rewrite Rinv_mult.
  replace (combination D alpha (fun i t => IZR (coefficient L i t)) a b * (Td D * Qd D)
    * (/ IZR (Zpos q) * / (Td D * Qd D)))
    with (/ IZR (Zpos q) * combination D alpha (fun i t => IZR (coefficient L i t)) a b)
    by (field; repeat split; lra).
  unfold combination. rewrite <- sum_scale; apply sum_ext; intros i _.
  rewrite <- sum_scale; apply sum_ext; intros t _. unfold real_multipliers; ring.
Qed.

End Multipliers.

Lemma norm2_rational d M q : is_matrix d d M = true ->
  norm2 d (rational M q) = IZR (square M) / (IZR (Zpos q) * IZR (Zpos q)).
Proof.
  intros HM. rewrite (square_spec d M HM). unfold norm2, Rdiv.
  rewrite <- sum_scale_r; apply sum_ext; intros a _.
  rewrite <- sum_scale_r; apply sum_ext; intros b _.
  rewrite rational_mat. field. apply den_neq.
Qed.

(** ** Exact solutions: W = Σ (L/q) φ has margins ≥ 1, and = 1 where a multiplier is not 0 *)

Section Exact.
Variables (D : dataset) (alpha : selection) (L : list (list Z)) (q : positive).

Definition one : Z := unit_margin D (combined_den D q).

(** The logits of all samples, computed once. *)
Definition table (M : list (list Z)) : list (list Z) := map (logits D M) (seq 0 (size D)).

Definition excess (H : list (list Z)) (i t : nat) : Z :=
  let h := nth i H [] in (nth (selected alpha i) h 0 - nth t h 0)%Z.

Definition tight (H : list (list Z)) (i t : nat) : bool := Z.eqb (excess H i t) one.

Definition slack (H : list (list Z)) (i t : nat) : bool :=
  if Z.eqb (coefficient L i t) 0 then Z.leb one (excess H i t) else tight H i t.

Definition check_kkt (C H : list (list Z)) : bool :=
  about D alpha && multipliers D alpha L
  && is_matrix (dim D) (dim D) C && all_rows D alpha (slack H).

Lemma table_nth M i : (i < size D)%nat -> nth i (table M) [] = logits D M i.
Proof.
  intros Hi. unfold table. rewrite (nth_indep _ _ (logits D M (size D)))
    by now rewrite map_length, seq_length.
  rewrite map_nth. now rewrite seq_nth.
Qed.

Let C := combinationZ D alpha L.
Let H := table C.
Hypothesis OK : check_kkt C H = true.

Lemma kkt_split : well_formed D = true /\ selects D alpha = true /\
  multipliers D alpha L = true /\ is_matrix (dim D) (dim D) C = true /\
  all_rows D alpha (slack H) = true.
Proof.
  unfold check_kkt in OK; rewrite !andb_true_iff in OK.
  destruct OK as [[[H1 H2] H3] H4]. destruct (about_spec _ _ H1); auto.
Qed.

Notation W := (rational C (combined_den D q)).

Lemma excess_spec i t : rejected D alpha i t ->
  IZR (excess H i t) = margin D alpha W i t * IZR one.
Proof.
  intros Hr. destruct kkt_split as (WF & Hs & _ & HC & _).
  unfold excess, H. rewrite table_nth by apply Hr.
  apply (margin_spec D WF); [easy|now apply (is_matrix_length (dim D) (dim D))|easy].
Qed.

Lemma one_pos : 0 < IZR one.
Proof. apply unit_margin_pos. Qed.

Lemma tight_margin i t : rejected D alpha i t ->
  (tight H i t = true <-> margin D alpha W i t = 1).
Proof.
  intros Hr. pose proof (excess_spec i t Hr) as E. pose proof one_pos.
  unfold tight; rewrite Z.eqb_eq; split.
  - intros Ht; rewrite Ht in E. nra.
  - intros Hm; rewrite Hm, Rmult_1_l in E. now apply eq_IZR.
Qed.

Theorem exact_optimum : optimum D alpha W
  /\ norm2 (dim D) W = IZR (totalZ L) / IZR (Zpos q).
Proof.
  destruct kkt_split as (WF & Hs & HL & HC & HS).
  rewrite <- (real_total D alpha L q HL).
  apply (kkt D alpha (real_multipliers L q)).
  - now apply real_dual.
  - intros i t Hr. pose proof (all_rows_spec _ _ _ HS i t Hr) as E; unfold slack in E.
    destruct (Z.eqb (coefficient L i t) 0).
    + apply Zle_IZR in E. rewrite (excess_spec i t Hr) in E. pose proof one_pos. nra.
    + right; symmetry; now apply tight_margin.
  - intros a b _ _. symmetry; now apply real_combination.
  - intros i t Hr. pose proof (all_rows_spec _ _ _ HS i t Hr) as E; unfold slack in E.
    unfold real_multipliers. destruct (Z.eqb_spec (coefficient L i t) 0) as [->|_]; [ring|].
    apply (tight_margin i t Hr) in E; rewrite E; ring.
Qed.

Lemma exact_known : knows D alpha (tight H).
Proof.
  destruct exact_optimum as [HO _]. split; [now exists W|]. intros i t Hr.
  rewrite (tight_margin i t Hr). symmetry; now apply support_index_margin.
Qed.

End Exact.

Section ExactCheckers.
Variables (D : dataset) (alpha : selection) (L : list (list Z)) (q : positive).

(** A check of the solution, then of what its tight rows say. *)
Definition exactly (demand : list (list Z) -> (nat -> nat -> bool) -> bool) : bool :=
  let C := combinationZ D alpha L in
  let H := table D C in
  check_kkt D alpha L q C H && demand C (tight D alpha q H).

(** C / combined_den and M / m are one matrix; M may be C, for numbers too long to multiply. *)
Definition same_entry (den m : positive) (c e : Z) : bool :=
  if Pos.eqb den m then Z.eqb c e else Z.eqb (c * Zpos m) (e * Zpos den).
Definition same_matrix (C M : list (list Z)) (m : positive) : bool :=
  let den := combined_den D q in
  is_matrix (dim D) (dim D) M &&
  all (dim D) (fun a => all (dim D) (fun b =>
    same_entry den m (nth b (nth a C []) 0%Z) (nth b (nth a M []) 0%Z))).

Lemma same_entry_spec den m c e : same_entry den m c e = true ->
  (IZR c * IZR (Zpos m) = IZR e * IZR (Zpos den))%R.
Proof.
  unfold same_entry. destruct (Pos.eqb_spec den m) as [->|_]; intros H; apply Zeq_IZR in H.
  - now rewrite H.
  - now rewrite !mult_IZR in H.
Qed.

Definition check_solution (M : list (list Z)) (m : positive) (rows : list (nat * nat))
    (p : Z) (r : positive) : bool :=
  exactly (fun C t => same_matrix C M m && support_is D alpha t rows
                      && Z.eqb (totalZ L * Zpos r) (p * Zpos q)).
Definition check_support (rows : list (nat * nat)) (p : Z) (r : positive) : bool :=
  exactly (fun _ t => support_is D alpha t rows
                      && Z.eqb (totalZ L * Zpos r) (p * Zpos q)).
Definition check_all_support : bool := exactly (fun _ t => all_rows D alpha t).
Definition check_not_all_support (i s : nat) : bool :=
  exactly (fun _ t => rejectedb D alpha i s && negb (t i s)).
Definition check_local : bool :=
  exactly (fun _ t => all_rows D alpha (fun i s => negb (t i s) || scores_less D alpha i s)).
Definition check_not_local (i s : nat) : bool :=
  exactly (fun _ t => rejectedb D alpha i s && t i s
                      && Z.leb (scoreZ D i (selected alpha i)) (scoreZ D i s)).

Lemma exactly_spec demand : exactly demand = true ->
  let C := combinationZ D alpha L in
  check_kkt D alpha L q C (table D C) = true /\
  demand C (tight D alpha q (table D C)) = true.
Proof. apply andb_true_iff. Qed.

Lemma optimum_ext V W : (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b) ->
  optimum D alpha W -> optimum D alpha V.
Proof.
  intros E [HW HO].
  pose proof (norm2_ext _ _ _ E) as EN.
  split.
  - intros i t Hr. rewrite (margin_ext _ _ _ W i t E). now apply HW.
  - intros U HU. rewrite EN. destruct (HO U HU) as [H1 H2]. split; [easy|].
    intros Hle a b Ha Hb. rewrite (E a b Ha Hb). now apply H2.
Qed.

Lemma exact_norm : check_kkt D alpha L q (combinationZ D alpha L)
    (table D (combinationZ D alpha L)) = true ->
  forall p r, Z.eqb (totalZ L * Zpos r) (p * Zpos q) = true ->
  norm_between D alpha (ratio p r) (ratio p r).
Proof.
  intros H p r E. destruct (exact_optimum D alpha L q H) as [HO HN].
  split; [now exists (rational (combinationZ D alpha L) (combined_den D q))|].
  intros W HW.
  assert (norm2 (dim D) W = ratio p r); [|lra].
  rewrite (norm2_ext _ _ _ (optimum_unique D alpha _ _ HW HO)), HN. unfold ratio.
  apply Zeq_IZR in E; rewrite !mult_IZR in E.
  pose proof (den_pos q); pose proof (den_pos r).
  apply Rmult_eq_reg_r with (IZR (Zpos q) * IZR (Zpos r)); [|nra].
  field_simplify; [lra|lra|lra].
Qed.

Theorem support_sound rows p r : check_support rows p r = true ->
  support D alpha rows /\ norm_between D alpha (ratio p r) (ratio p r).
Proof.
  intros H; apply exactly_spec in H; destruct H as [H1 H2]; rewrite andb_true_iff in H2.
  split; [|now apply exact_norm].
  apply (support_is_spec _ _ _ (exact_known D alpha L q H1)), H2.
Qed.

Theorem solution_sound M m rows p r : check_solution M m rows p r = true ->
  optimum D alpha (rational M m) /\ support D alpha rows
  /\ norm_between D alpha (ratio p r) (ratio p r).
Proof.
  intros H; apply exactly_spec in H; destruct H as [H1 H2]; rewrite !andb_true_iff in H2.
  destruct H2 as [[H2 H3] H4]. split; [|split].
  - apply (optimum_ext _ (rational (combinationZ D alpha L) (combined_den D q)));
      [|apply exact_optimum, H1].
    intros a b Ha Hb. unfold same_matrix in H2; rewrite andb_true_iff in H2.
    pose proof (all_spec _ _ (all_spec _ _ (proj2 H2) a Ha) b Hb) as E; cbv beta in E.
    apply same_entry_spec in E. rewrite !rational_mat.
    change (IZR (nth b (nth a M []) 0%Z)) with (mat M a b) in E.
    change (IZR (nth b (nth a (combinationZ D alpha L) []) 0%Z))
      with (mat (combinationZ D alpha L) a b) in E.
    pose proof (den_pos m); pose proof (den_pos (combined_den D q)).
    apply Rmult_eq_reg_r with (IZR (Zpos m) * IZR (Zpos (combined_den D q))); [|nra].
    field_simplify; [lra|lra|lra].
  - apply (support_is_spec _ _ _ (exact_known D alpha L q H1)), H3.
  - now apply exact_norm.
Qed.

Theorem all_support_sound : check_all_support = true -> all_support D alpha.
Proof.
  intros H; apply exactly_spec in H; destruct H as [H1 H2].
  apply (all_tight _ _ _ (exact_known D alpha L q H1)), H2.
Qed.

Theorem not_all_support_sound i t : check_not_all_support i t = true -> ~ all_support D alpha.
Proof.
  intros H; apply exactly_spec in H; destruct H as [H1 H2].
  apply (not_all_tight _ _ _ (exact_known D alpha L q H1) i t), H2.
Qed.

Theorem local_sound : check_local = true -> locally_optimal D alpha.
Proof.
  intros H; apply exactly_spec in H; destruct H as [H1 H2].
  apply (tight_less _ _ (tight D alpha q (table D (combinationZ D alpha L))));
    [apply (kkt_split D alpha L q H1)|now apply exact_known|exact H2].
Qed.

Theorem not_local_sound i t : check_not_local i t = true -> ~ locally_optimal D alpha.
Proof.
  intros H; apply exactly_spec in H; destruct H as [H1 H2].
  apply (tight_rival D alpha (tight D alpha q (table D (combinationZ D alpha L))))
    with (i := i) (t := t);
    [apply (kkt_split D alpha L q H1)|now apply exact_known|exact H2].
Qed.

End ExactCheckers.
