(** Checkers of primal-dual pairs: a matrix M / q that separates, and multipliers L / l. Short
    fractions will do; the gap between the two bounds the distance to the solution. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins Feasibility Existence Duality
  Optimum.
Import ListNotations.
Local Open Scope R_scope.

Section Pair.
Variables (D : dataset) (alpha : selection).
Variables (M : list (list Z)) (q : positive) (L : list (list Z)) (l : positive).

Definition feature_scale : Z := Zpos (token_den D * query_den D).

Let C := combinationZ D alpha L.

(** The gap ‖M/q‖² - 2 Σ L/l + ‖Σ (L/l) φ‖² is [gap_over C] / [gap_under]. *)
Definition gap_over (C : list (list Z)) : Z :=
  (square M * (Zpos l * feature_scale) * (Zpos l * feature_scale)
   - 2 * totalZ L * Zpos l * (Zpos q * feature_scale) * (Zpos q * feature_scale)
   + square C * Zpos q * Zpos q)%Z.
Definition gap_under : Z :=
  (Zpos q * Zpos l * feature_scale * (Zpos q * Zpos l * feature_scale))%Z.

(** ‖φ_it‖² times [feature_scale]². *)
Definition feature_square (i t : nat) : Z :=
  let delta := add (xZ D i (selected alpha i)) (scale (-1) (xZ D i t)) in
  (dot delta delta * dot (zZ D i) (zZ D i))%Z.

(** The margin of M / q at (i, t) exceeds 1 by more than ‖φ_it‖ times the root of the gap. *)
Definition off_support (H : list (list Z)) (G : Z) (i t : nat) : bool :=
  let e := ((excess alpha H i t - unit_margin D q) * (Zpos l * feature_scale))%Z in
  Z.ltb (feature_square i t * G) (e * e).

Definition check_pair (C : list (list Z)) : bool :=
  check_feasible D alpha M q && multipliers D alpha L && is_matrix (dim D) (dim D) C.

Definition paired (demand : list (list Z) -> Z -> list (list Z) -> bool) : bool :=
  let C := combinationZ D alpha L in
  check_pair C && demand C (gap_over C) (table D M).

(** Rivals are not support indices. *)
Definition check_local_pair : bool :=
  paired (fun _ G H => all_rows D alpha (fun i t => scores_less D alpha i t
                                                 || off_support H G i t)).
Definition check_not_all_support_pair (i t : nat) : bool :=
  paired (fun _ G H => rejectedb D alpha i t && off_support H G i t).
(** The gap is at most [gn] / [gd]; the bounds of the squared norm are [an] / [ad], [bn] / [bd]. *)
Definition check_near (gn : Z) (gd : positive) (an : Z) (ad : positive) (bn : Z) (bd : positive)
    : bool :=
  paired (fun C G _ =>
    Z.leb (G * Zpos gd) (gn * gap_under)
    && (let s := (Zpos l * feature_scale)%Z in
        Z.leb (an * (s * s)) ((2 * totalZ L * Zpos l * feature_scale * feature_scale - square C)
                              * Zpos ad))
    && Z.leb (square M * Zpos bd) (bn * (Zpos q * Zpos q))).

Hypothesis OK : check_pair C = true.
Notation V := (rational M q).
Notation c := (real_multipliers L l).

Lemma pair_split : well_formed D = true /\ selects D alpha = true
  /\ check_feasible D alpha M q = true /\ is_matrix (dim D) (dim D) M = true
  /\ multipliers D alpha L = true /\ is_matrix (dim D) (dim D) C = true.
Proof.
  unfold check_pair in OK; rewrite !andb_true_iff in OK. destruct OK as [[H1 H2] H3].
  pose proof H1 as H0. unfold check_feasible in H0; rewrite !andb_true_iff in H0.
  destruct H0 as [[H0 H4] _]. destruct (about_spec _ _ H0). auto 7.
Qed.

Lemma scale_IZR : IZR feature_scale = Td D * Qd D.
Proof. unfold feature_scale. now rewrite Pos2Z.inj_mul, mult_IZR. Qed.

Lemma scale_pos : 0 < IZR feature_scale.
Proof. apply IZR_lt; reflexivity. Qed.

Lemma norm2_combination : norm2 (dim D) (combination D alpha c)
  = IZR (square C) / (IZR (Zpos l) * IZR feature_scale * (IZR (Zpos l) * IZR feature_scale)).
Proof.
  destruct pair_split as (_ & _ & _ & _ & HL & HC).
  rewrite (norm2_ext _ _ _ (fun a b _ _ => real_combination D alpha L l a b)).
  now rewrite (norm2_rational _ _ _ HC), combined_den_IZR, scale_IZR.
Qed.

Lemma pair_gap : norm2 (dim D) V - (2 * total D c - norm2 (dim D) (combination D alpha c))
  = IZR (gap_over C) / IZR gap_under.
Proof.
  destruct pair_split as (_ & _ & _ & HM & HL & HC).
  rewrite norm2_combination, (norm2_rational _ _ _ HM), (real_total D alpha L l HL).
  unfold gap_over, gap_under. rewrite plus_IZR, minus_IZR, !mult_IZR.
  pose proof scale_pos; pose proof (den_pos q); pose proof (den_pos l).
  field. repeat split; lra.
Qed.

Lemma gap_under_pos : 0 < IZR gap_under.
Proof. apply IZR_lt; reflexivity. Qed.

Lemma pair_distance W : optimum D alpha W ->
  distance2 (dim D) V W <= IZR (gap_over C) / IZR gap_under.
Proof.
  intros HO. destruct pair_split as (_ & _ & HF & _ & HL & _).
  rewrite <- pair_gap. apply (gap_bound D alpha); [|now apply separates_rational|easy].
  now apply real_dual.
Qed.

Lemma feature_square_spec i t : (i < size D)%nat -> (selected alpha i < count D i)%nat ->
  (t < count D i)%nat ->
  norm2 (dim D) (phi D alpha i t)
  = IZR (feature_square i t) / (IZR feature_scale * IZR feature_scale).
Proof.
  intros Hi Ha Ht. destruct pair_split as (WF & _).
  destruct (wf_sample D WF i Hi) as (_ & Hx & Hz & _).
  set (e := add (xZ D i (selected alpha i)) (scale (-1) (xZ D i t))).
  assert (He : forall u w, length u = length w -> length (add u (scale (-1) w)) = length u).
  { clear; induction u as [|a u IH]; intros [|b w]; simpl; try easy.
    intros E; now rewrite IH by congruence. }
  assert (Hd : length e = dim D) by (unfold e; rewrite He; rewrite ?Hx; auto).
  unfold feature_square; fold e. rewrite mult_IZR, (dot_spec e e _ Hd), (dot_spec _ _ _ Hz).
  unfold norm2, Rdiv. rewrite <- !sum_scale_r; apply sum_ext; intros a _.
  rewrite <- sum_scale, <- sum_scale_r; apply sum_ext; intros b _.
  unfold phi, e. rewrite !x_vec, z_vec, vec_add, vec_scale, scale_IZR.
  pose proof (Td_pos D); pose proof (Qd_pos D). field. split; lra.
Qed.

Lemma off_support_spec i t : off_support (table D M) (gap_over C) i t = true ->
  ~ support_index D alpha i t.
Proof.
  intros H (Hr & W & HO & Hm). revert Hm.
  destruct pair_split as (WF & Hs & HF & HM & HL & _).
  destruct Hr as (Hi & Ht & Hn).
  pose proof (proj2 (selects_spec D alpha Hs) i Hi) as Hsel.
  apply (excluded D alpha V W _ i t HO (pair_distance W HO)).
  rewrite (feature_square_spec i t Hi Hsel Ht).
  unfold off_support in H. apply Zlt_IZR in H. rewrite !mult_IZR, minus_IZR in H.
  unfold excess in H. rewrite table_nth in H by easy.
  rewrite (margin_spec D WF alpha M q i t Hs (is_matrix_length _ _ _ HM)) in H by easy.
  set (m := margin D alpha V i t) in *.
  unfold gap_under. rewrite !mult_IZR. rewrite unit_margin_IZR in H.
  rewrite scale_IZR in *.
  pose proof (Td_pos D); pose proof (Qd_pos D); pose proof (den_pos q); pose proof (den_pos l).
  set (T := Td D) in *; set (Q := Qd D) in *; set (u := IZR (Zpos q)) in *;
    set (v := IZR (Zpos l)) in *.
  set (P := T * Q * (u * v * (T * Q))) in *.
  assert (0 < P) by (unfold P; repeat apply Rmult_lt_0_compat; assumption).
  apply Rmult_lt_reg_r with (P * P); [nra|].
  replace (IZR (feature_square i t) / (T * Q * (T * Q))
           * (IZR (gap_over C) / (u * v * (T * Q) * (u * v * (T * Q)))) * (P * P))
    with (IZR (feature_square i t) * IZR (gap_over C)) by (unfold P; field; repeat split; lra).
  replace ((m - 1) * (m - 1) * (P * P))
    with ((m * (u * T * Q) - u * T * Q) * (v * (T * Q)) * ((m * (u * T * Q) - u * T * Q)
          * (v * (T * Q)))) by (unfold P; ring).
  exact H.
Qed.

Lemma pair_solvable : solvable D alpha.
Proof.
  destruct pair_split as (_ & _ & HF & _). apply solution_exists. now exists V; apply separates_rational.
Qed.

End Pair.

Section PairCheckers.
Variables (D : dataset) (alpha : selection).
Variables (M : list (list Z)) (q : positive) (L : list (list Z)) (l : positive).

Lemma paired_spec demand : paired D alpha M q L l demand = true ->
  let C := combinationZ D alpha L in
  check_pair D alpha M q L C = true /\ demand C (gap_over D M q L l C) (table D M) = true.
Proof. apply andb_true_iff. Qed.

Theorem local_pair_sound : check_local_pair D alpha M q L l = true -> locally_optimal D alpha.
Proof.
  intros H; apply paired_spec in H; destruct H as [H1 H2].
  split; [now apply (pair_solvable D alpha M q L)|]. intros i t Hi.
  pose proof (all_rows_spec _ _ _ H2 i t (proj1 Hi)) as E; cbv beta in E.
  apply orb_true_iff in E; destruct E as [E|E].
  - apply score_lt; [apply (pair_split D alpha M q L H1)|easy].
  - now apply (off_support_spec D alpha M q L l H1) in E.
Qed.

Theorem not_all_support_pair_sound i t :
  check_not_all_support_pair D alpha M q L l i t = true -> ~ all_support D alpha.
Proof.
  intros H [_ HA]; apply paired_spec in H; destruct H as [H1 H2]; rewrite andb_true_iff in H2.
  destruct H2 as [Hr He]. apply (off_support_spec D alpha M q L l H1 i t He).
  now apply HA, rejectedb_spec.
Qed.

Theorem near_sound gn gd an ad bn bd :
  check_near D alpha M q L l gn gd an ad bn bd = true ->
  near_optimum D alpha (rational M q) (ratio gn gd)
  /\ norm_between D alpha (ratio an ad) (ratio bn bd).
Proof.
  intros H; apply paired_spec in H; destruct H as [H1 H2]; rewrite !andb_true_iff in H2.
  destruct H2 as [[Hg Ha] Hb].
  destruct (pair_split D alpha M q L H1) as (_ & _ & HF & HM & HL & _).
  pose proof (pair_solvable D alpha M q L H1) as HS.
  pose proof (separates_rational D alpha M q HF) as HV.
  pose proof (real_dual D alpha L l HL) as HD.
  pose proof (den_pos gd); pose proof (den_pos ad); pose proof (den_pos bd).
  pose proof (den_pos q); pose proof (den_pos l). pose proof (scale_pos D).
  split; [split; [easy|split; [easy|]]|split; [easy|]]; intros W HO.
  - eapply Rle_trans; [apply (pair_distance D alpha M q L l H1 W HO)|].
    apply Zle_IZR in Hg; rewrite !mult_IZR in Hg.
    pose proof (gap_under_pos D q l). unfold ratio.
    apply Rmult_le_reg_r with (IZR (gap_under D q l) * IZR (Zpos gd)); [nra|].
    field_simplify; [lra|lra|lra].
  - split.
    + eapply Rle_trans; [|apply (lower_bound D alpha _ W HD (proj1 HO))].
      rewrite (real_total D alpha L l HL), (norm2_combination D alpha M q L l H1).
      apply Zle_IZR in Ha; rewrite !mult_IZR, minus_IZR, !mult_IZR in Ha.
      set (s := IZR (feature_scale D)) in *. unfold ratio.
      assert (0 < IZR (Zpos l) * s) by nra.
      apply Rmult_le_reg_r with (IZR (Zpos ad) * (IZR (Zpos l) * s * (IZR (Zpos l) * s)));
        [repeat apply Rmult_lt_0_compat; assumption|].
      replace (IZR an / IZR (Zpos ad) * (IZR (Zpos ad) * (IZR (Zpos l) * s * (IZR (Zpos l) * s))))
        with (IZR an * (IZR (Zpos l) * s * (IZR (Zpos l) * s))) by (field; lra).
      eapply Rle_trans; [apply Ha|]. right. field. split; nra.
    + apply Rle_trans with (norm2 (dim D) (rational M q)); [apply (proj2 HO _ HV)|].
      rewrite (norm2_rational _ _ _ HM). apply Zle_IZR in Hb; rewrite !mult_IZR in Hb.
      unfold ratio.
      apply Rmult_le_reg_r with (IZR (Zpos bd) * (IZR (Zpos q) * IZR (Zpos q)));
        [repeat apply Rmult_lt_0_compat; assumption|].
      replace (IZR bn / IZR (Zpos bd) * (IZR (Zpos bd) * (IZR (Zpos q) * IZR (Zpos q))))
        with (IZR bn * (IZR (Zpos q) * IZR (Zpos q))) by (field; lra).
      eapply Rle_trans; [|apply Hb]. right. field. lra.
Qed.

End PairCheckers.
