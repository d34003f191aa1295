(** Checkers of what is said of the scores alone. *)

From Coq Require Import Arith Bool Lia List Reals Lra ZArith.
From AttSVM Require Import Dataset Statements Integers Margins Feasibility Duality.
Import ListNotations.
Local Open Scope R_scope.

Section Scores.
Variable D : dataset.

Definition is_token (i t : nat) : bool := Nat.ltb i (size D) && Nat.ltb t (count D i).

Lemma is_token_spec i t : is_token i t = true -> (i < size D)%nat /\ (t < count D i)%nat.
Proof. unfold is_token; rewrite andb_true_iff, !Nat.ltb_lt; easy. Qed.

(** Token t of sample i has the largest score. *)
Definition is_top (i t : nat) : bool :=
  is_token i t && all (count D i) (fun s => Z.leb (scoreZ D i s) (scoreZ D i t)).

Definition check_optimal (alpha : selection) : bool :=
  about D alpha && all_rows D alpha (scores_less D alpha).
Definition check_tie (i t s : nat) : bool :=
  well_formed D && negb (Nat.eqb t s) && is_top i t && is_top i s.
(** In every sample one token of the largest score and one of the only other. *)
Definition check_equal_scores (high low : list nat) : bool :=
  well_formed D && Nat.eqb (length high) (size D) && Nat.eqb (length low) (size D)
  && all (size D) (fun i =>
       is_top i (nth i high 0%nat) && is_token i (nth i low 0%nat) &&
       all (count D i) (fun t =>
         Z.eqb (scoreZ D i t) (scoreZ D i (nth i high 0%nat))
         || Z.eqb (scoreZ D i t) (scoreZ D i (nth i low 0%nat)))).
(** Tokens t and s score below token u, and not the same. *)
Definition check_unequal_scores (i t s u : nat) : bool :=
  well_formed D && is_token i t && is_token i s && is_token i u
  && Z.ltb (scoreZ D i t) (scoreZ D i u) && Z.ltb (scoreZ D i s) (scoreZ D i u)
  && negb (Z.eqb (scoreZ D i t) (scoreZ D i s)).
(** A token of larger and one of smaller score for every sample. *)
Definition check_gaps (above lower : list nat) : bool :=
  well_formed D && Nat.eqb (length above) (size D) && Nat.eqb (length lower) (size D)
  && all (size D) (fun i =>
       is_token i (nth i above 0%nat) && is_token i (nth i lower 0%nat)
       && Z.ltb (scoreZ D i (nth i lower 0%nat)) (scoreZ D i (nth i above 0%nat))).
Definition check_flat (i : nat) : bool :=
  well_formed D && Nat.ltb i (size D)
  && all (count D i) (fun t => Z.eqb (scoreZ D i t) (scoreZ D i 0%nat)).

Lemma is_top_spec (WF : well_formed D = true) i t : is_top i t = true ->
  (i < size D)%nat /\ (t < count D i)%nat /\
  forall s, (s < count D i)%nat -> score D i s <= score D i t.
Proof.
  unfold is_top; rewrite andb_true_iff; intros [Ht H]. apply is_token_spec in Ht.
  repeat split; try easy. intros s Hs. apply (score_le D WF). exact (all_spec _ _ H s Hs).
Qed.

Theorem optimal_sound alpha : check_optimal alpha = true -> optimal D alpha.
Proof.
  unfold check_optimal; rewrite andb_true_iff; intros [Ha H].
  destruct (about_spec _ _ Ha) as [WF Hs]. split; [easy|]. intros i t Hr.
  apply (score_lt D WF). exact (all_rows_spec _ _ _ H i t Hr).
Qed.

Theorem tie_sound i t s : check_tie i t s = true -> ~ unique_optimum D.
Proof.
  unfold check_tie; rewrite !andb_true_iff, negb_true_iff, Nat.eqb_neq.
  intros [[[WF Hn] Ht] Hs] (alpha & Ha & HO).
  apply (is_top_spec WF) in Ht, Hs.
  destruct Ht as (Hi & Ht & Htop), Hs as (_ & Hs & Hsop).
  pose proof (proj2 (selects_spec D alpha Ha) i Hi) as Hal.
  destruct (Nat.eq_dec t (selected alpha i)) as [->|E].
  - specialize (HO i s). specialize (Hsop _ Hal).
    assert (score D i s < score D i (selected alpha i)); [|lra].
    apply HO. repeat split; auto.
  - specialize (Htop _ Hal). assert (score D i t < score D i (selected alpha i)); [|lra].
    apply HO. repeat split; auto.
Qed.

Theorem equal_scores_sound high low : check_equal_scores high low = true -> equal_scores D.
Proof.
  unfold check_equal_scores; rewrite !andb_true_iff; intros [[[WF _] _] H].
  assert (E : forall i t, (i < size D)%nat -> below D i t ->
              score D i t = score D i (nth i low 0%nat)).
  { intros i t Hi (Ht & u & Hu & Hlt). pose proof (all_spec _ _ H i Hi) as A; cbv beta in A.
    rewrite !andb_true_iff in A. destruct A as [[Htop _] A].
    apply (is_top_spec WF) in Htop. destruct Htop as (_ & _ & Htop). specialize (Htop u Hu).
    pose proof (all_spec _ _ A t Ht) as B; cbv beta in B. apply orb_true_iff in B.
    destruct B as [B|B]; apply (score_eq D WF) in B; [lra|easy]. }
  intros i t s Hi Ht Hs. now rewrite (E i t Hi Ht), (E i s Hi Hs).
Qed.

Lemma score_neq (WF : well_formed D = true) i t s :
  negb (Z.eqb (scoreZ D i t) (scoreZ D i s)) = true -> score D i t <> score D i s.
Proof.
  rewrite negb_true_iff, Z.eqb_neq; intros H E. apply H, eq_IZR.
  rewrite !(score_spec D WF) in E. pose proof (score_scale D).
  apply Rmult_eq_reg_r with (/ (Hd D * Td D)); [exact E|lra].
Qed.

Theorem unequal_scores_sound i t s u : check_unequal_scores i t s u = true ->
  ~ equal_scores D.
Proof.
  unfold check_unequal_scores; rewrite !andb_true_iff.
  intros [[[[[[WF Ht] Hs] Hu] Htu] Hsu] Hn] HE.
  apply is_token_spec in Ht, Hs, Hu.
  apply (score_neq WF i t s Hn). apply HE; [easy| |].
  - split; [easy|]. exists u; split; [easy|]. now apply (score_lt D WF).
  - split; [easy|]. exists u; split; [easy|]. now apply (score_lt D WF).
Qed.

Theorem gaps_sound above lower : check_gaps above lower = true -> no_flat_sample D.
Proof.
  unfold check_gaps; rewrite !andb_true_iff; intros [[[WF _] _] H] i Hi.
  pose proof (all_spec _ _ H i Hi) as A; cbv beta in A. rewrite !andb_true_iff in A.
  destruct A as [[Ha Hl] Hlt]. apply is_token_spec in Ha, Hl.
  exists (nth i above 0%nat), (nth i lower 0%nat). repeat split; try easy.
  apply (score_lt D WF) in Hlt. lra.
Qed.

Theorem flat_sound i : check_flat i = true -> ~ no_flat_sample D.
Proof.
  unfold check_flat; rewrite !andb_true_iff, Nat.ltb_lt; intros [[WF Hi] H] HN.
  destruct (HN i Hi) as (t & s & Ht & Hs & Hne). apply Hne.
  rewrite (score_eq D WF _ _ _ (all_spec _ _ H t Ht)).
  now rewrite (score_eq D WF _ _ _ (all_spec _ _ H s Hs)).
Qed.

Theorem optimal_unique_optimum alpha : check_optimal alpha = true -> unique_optimum D.
Proof. intros H; exists alpha; now apply optimal_sound. Qed.

End Scores.
