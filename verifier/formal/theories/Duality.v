(** Duality for Att-SVM(alpha): KKT conditions suffice, and a primal-dual gap bounds distances. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins Existence.
Import ListNotations.
Local Open Scope R_scope.

Section Duality.
Variables (D : dataset) (alpha : selection).
Notation d := (dim D).

(** Real multipliers: not negative, and 0 at selected tokens. *)
Definition dual (c : nat -> nat -> R) : Prop :=
  forall i t, (i < size D)%nat -> (t < count D i)%nat ->
  0 <= c i t /\ (t = selected alpha i -> c i t = 0).

Lemma dual_rejected c i t : dual c -> (i < size D)%nat -> (t < count D i)%nat ->
  c i t = 0 \/ (rejected D alpha i t /\ 0 <= c i t).
Proof.
  intros Hc Hi Ht. destruct (Hc i t Hi Ht) as [H0 H1].
  destruct (Nat.eq_dec t (selected alpha i)); [left; auto|right; repeat split; easy].
Qed.

Lemma weak_duality c V : dual c -> separates D alpha V ->
  total D c <= inner d (combination D alpha c) V.
Proof.
  intros Hc HV. rewrite combination_inner. apply total_le; intros i t Hi Ht.
  destruct (dual_rejected c i t Hc Hi Ht) as [->|[Hr H0]]; [lra|].
  specialize (HV i t Hr). nra.
Qed.

(** 2 Σ c - ‖Σ c φ‖² bounds every squared norm from below. *)
Lemma lower_bound c V : dual c -> separates D alpha V ->
  2 * total D c - norm2 d (combination D alpha c) <= norm2 d V.
Proof.
  intros Hc HV. pose proof (weak_duality c V Hc HV).
  pose proof (norm2_nonneg d (fun a b => V a b - combination D alpha c a b)) as H0.
  fold (distance2 d V (combination D alpha c)) in H0. rewrite distance2_expand in H0.
  rewrite (inner_comm d V) in H0. lra.
Qed.

Lemma inner_combination c W : dual c ->
  (forall i t, rejected D alpha i t -> c i t * (margin D alpha W i t - 1) = 0) ->
  inner d (combination D alpha c) W = total D c.
Proof.
  intros Hc Hs. rewrite combination_inner. apply total_ext; intros i t Hi Ht.
  destruct (dual_rejected c i t Hc Hi Ht) as [->|[Hr _]]; [ring|]. specialize (Hs i t Hr). lra.
Qed.

(** W is the solution if no other matrix that separates has a shorter projection on it. *)
Lemma optimum_criterion W : separates D alpha W ->
  (forall V, separates D alpha V -> norm2 d W <= inner d W V) -> optimum D alpha W.
Proof.
  intros HW H. split; [easy|]. intros V HV. specialize (H V HV).
  pose proof (distance2_expand d V W) as HD. rewrite (inner_comm d V W) in HD.
  pose proof (norm2_nonneg d (fun a b => V a b - W a b)) as H0. fold (distance2 d V W) in H0.
  split; [lra|]. intros Hle. apply distance2_zero. lra.
Qed.

(** Karush, Kuhn and Tucker. *)
Theorem kkt c W : dual c -> separates D alpha W ->
  (forall a b, (a < d)%nat -> (b < d)%nat -> W a b = combination D alpha c a b) ->
  (forall i t, rejected D alpha i t -> c i t * (margin D alpha W i t - 1) = 0) ->
  optimum D alpha W /\ norm2 d W = total D c.
Proof.
  intros Hc HW HE Hs.
  assert (HI : forall V, inner d W V = inner d (combination D alpha c) V).
  { intros V; apply inner_ext; [exact HE|easy]. }
  assert (HN : norm2 d W = total D c).
  { rewrite norm2_inner, HI. now apply inner_combination. }
  split; [|easy]. apply optimum_criterion; [easy|]. intros V HV.
  rewrite HN, HI. now apply weak_duality.
Qed.

(** The solution is the projection of 0 on a convex set. *)
Lemma projection V W : optimum D alpha W -> separates D alpha V ->
  distance2 d V W <= norm2 d V - norm2 d W.
Proof.
  intros [HW HO] HV.
  assert (H : norm2 d W <= inner d V W).
  { apply (le_limit _ _ (distance2 d V W)). intros e He.
    set (U := fun a b => (1 - e) * W a b + e * V a b).
    assert (HM : forall A, inner d U A = (1 - e) * inner d W A + e * inner d V A).
    { intros A; unfold U; now rewrite inner_plus, !inner_scale. }
    assert (HU : separates D alpha U).
    { intros i t Hr. specialize (HV i t Hr); specialize (HW i t Hr).
      rewrite margin_inner, inner_comm, HM, !(inner_comm d _ (phi D alpha i t)),
        <- !margin_inner. nra. }
    pose proof (proj1 (HO U HU)) as Hle. rewrite (norm2_inner d U), HM in Hle.
    rewrite (inner_comm d W U), (inner_comm d V U), !HM, (inner_comm d W V) in Hle.
    rewrite <- !norm2_inner in Hle. pose proof (distance2_expand d V W) as HD.
    assert (0 <= e * (- 2 * norm2 d W + 2 * inner d V W + e * distance2 d V W)) by nra.
    assert (0 <= - 2 * norm2 d W + 2 * inner d V W + e * distance2 d V W) by nra.
    pose proof (norm2_nonneg d (fun a b => V a b - W a b)) as HP.
    fold (distance2 d V W) in HP. nra. }
  rewrite distance2_expand. lra.
Qed.

Lemma gap_bound c V W : dual c -> separates D alpha V -> optimum D alpha W ->
  distance2 d V W <= norm2 d V - (2 * total D c - norm2 d (combination D alpha c)).
Proof.
  intros Hc HV HO. pose proof (projection V W HO HV).
  pose proof (lower_bound c W Hc (proj1 HO)). lra.
Qed.

(** A margin that exceeds 1 by more than the distance allows is no support index. *)
Lemma excluded V W g i t : optimum D alpha W -> distance2 d V W <= g ->
  norm2 d (phi D alpha i t) * g < (margin D alpha V i t - 1) * (margin D alpha V i t - 1) ->
  margin D alpha W i t <> 1.
Proof.
  intros HO Hg Hm E.
  pose proof (cauchy_schwarz d (phi D alpha i t) (fun a b => V a b - W a b)) as H.
  fold (distance2 d V W) in H.
  rewrite (inner_comm d (phi D alpha i t)), inner_minus, !(inner_comm d _ (phi D alpha i t)),
    <- !margin_inner, E in H.
  pose proof (norm2_nonneg d (phi D alpha i t)). nra.
Qed.

Lemma support_index_margin W i t : optimum D alpha W -> rejected D alpha i t ->
  (support_index D alpha i t <-> margin D alpha W i t = 1).
Proof.
  intros HO Hr. split.
  - intros (_ & V & HV & <-). apply sum_ext; intros a Ha; apply sum_ext; intros b Hb.
    now rewrite (optimum_unique D alpha V W HV HO a b Ha Hb).
  - intros E; split; [easy|]. now exists W.
Qed.

End Duality.

(** ** What follows when it is known which rows are support indices *)

Section Known.
Variables (D : dataset) (alpha : selection) (tight : nat -> nat -> bool).
Hypothesis WF : well_formed D = true.

Definition knows : Prop := solvable D alpha /\
  forall i t, rejected D alpha i t -> (tight i t = true <-> support_index D alpha i t).
Hypothesis known : knows.

Definition rejectedb (i t : nat) : bool :=
  Nat.ltb i (size D) && Nat.ltb t (count D i) && negb (Nat.eqb t (selected alpha i)).

Lemma rejectedb_spec i t : rejectedb i t = true -> rejected D alpha i t.
Proof.
  unfold rejectedb; rewrite !andb_true_iff, !Nat.ltb_lt, negb_true_iff, Nat.eqb_neq.
  intros [[H1 H2] H3]; repeat split; easy.
Qed.

Definition is_row (i t : nat) (r : nat * nat) : bool := Nat.eqb i (fst r) && Nat.eqb t (snd r).

Definition all_rows (f : nat -> nat -> bool) : bool :=
  all (size D) (fun i => all_rejected D alpha i (f i)).

Lemma all_rows_spec f : all_rows f = true ->
  forall i t, rejected D alpha i t -> f i t = true.
Proof.
  intros H i t Hr. apply (all_rejected_spec D alpha i (f i)); [|easy].
  exact (all_spec _ _ H i (proj1 Hr)).
Qed.

Definition support_is (rows : list (nat * nat)) : bool :=
  forallb (fun r => rejectedb (fst r) (snd r) && tight (fst r) (snd r)) rows
  && all_rows (fun i t => negb (tight i t) || existsb (is_row i t) rows).

Lemma support_is_spec rows : support_is rows = true -> support D alpha rows.
Proof.
  unfold support_is; rewrite andb_true_iff, forallb_forall; intros [H1 H2].
  destruct known as [Hs Hk]. split; [easy|]. intros i t; split.
  - intros Hi. pose proof (proj1 Hi) as Hr.
    pose proof (all_rows_spec _ H2 i t Hr) as E; simpl in E.
    rewrite (proj2 (Hk i t Hr) Hi) in E; simpl in E.
    apply existsb_exists in E; destruct E as ([j s] & Hin & E).
    unfold is_row in E; simpl in E; rewrite andb_true_iff, !Nat.eqb_eq in E.
    destruct E as [-> ->]; easy.
  - intros Hin. specialize (H1 _ Hin); simpl in H1; rewrite andb_true_iff in H1.
    destruct H1 as [Hr Ht]. apply Hk; [now apply rejectedb_spec|easy].
Qed.

Lemma all_tight : all_rows tight = true -> all_support D alpha.
Proof.
  intros H; destruct known as [Hs Hk]; split; [easy|]. intros i t Hr.
  apply Hk; [easy|]. now apply all_rows_spec.
Qed.

Lemma not_all_tight i t : rejectedb i t && negb (tight i t) = true -> ~ all_support D alpha.
Proof.
  rewrite andb_true_iff, negb_true_iff; intros [Hr Ht] [_ H].
  apply rejectedb_spec in Hr. specialize (H i t Hr).
  apply (proj2 known i t Hr) in H. congruence.
Qed.

Definition scores_less (i t : nat) : bool :=
  Z.ltb (scoreZ D i t) (scoreZ D i (selected alpha i)).

Lemma tight_less : all_rows (fun i t => negb (tight i t) || scores_less i t) = true ->
  locally_optimal D alpha.
Proof.
  intros H; destruct known as [Hs Hk]; split; [easy|]. intros i t Hi.
  pose proof (proj1 Hi) as Hr. pose proof (all_rows_spec _ H i t Hr) as E; simpl in E.
  rewrite (proj2 (Hk i t Hr) Hi) in E. now apply score_lt.
Qed.

Lemma tight_rival i t : rejectedb i t && tight i t
    && Z.leb (scoreZ D i (selected alpha i)) (scoreZ D i t) = true ->
  ~ locally_optimal D alpha.
Proof.
  rewrite !andb_true_iff; intros [[Hr Ht] Hle] [_ H].
  apply rejectedb_spec in Hr. specialize (H i t (proj1 (proj2 known i t Hr) Ht)).
  pose proof (score_le D WF _ _ _ Hle). lra.
Qed.

End Known.
