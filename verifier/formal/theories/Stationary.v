(** No stationary point from independent features and one sample that is not flat (S1). *)

From Coq Require Import Arith Bool List Reals ZArith.
From AttSVM Require Import Dataset Statements Integers Margins Scores Gram Ranks Loss Monotone.
Local Open Scope R_scope.

(** Tokens t and s of sample i differ in score. *)
Definition differ (D : dataset) (i t s : nat) : bool :=
  is_token D i t && is_token D i s && negb (Z.eqb (scoreZ D i t) (scoreZ D i s)).

Definition check_injective_rows (D : dataset) (A : inverse) (i t s : nat) : bool :=
  check_independent_rows D A && differ D i t s.

Definition check_injective_factors (D : dataset) (A : inverse) (As : list inverse) (i t s : nat)
    : bool :=
  check_independent_factors D A As && differ D i t s.

Lemma injective D i t s : well_formed D = true -> shatters D -> differ D i t s = true ->
  no_stationary_point D.
Proof.
  unfold differ; rewrite !andb_true_iff; intros WF HS [[Ht Hs] Hn].
  apply is_token_spec in Ht, Hs.
  apply full_rank_no_stationary_point; [easy|now apply shatters_full_rank|].
  exists i, t, s. repeat split; try easy. now apply score_neq.
Qed.

Theorem injective_rows_sound D A i t s : check_injective_rows D A i t s = true ->
  no_stationary_point D.
Proof.
  unfold check_injective_rows; rewrite andb_true_iff; intros [H1 H2].
  apply (injective D i t s); [|now apply (independent_rows_shatter D A)|easy].
  unfold check_independent_rows in H1; rewrite andb_true_iff in H1. easy.
Qed.

Theorem injective_factors_sound D A As i t s :
  check_injective_factors D A As i t s = true -> no_stationary_point D.
Proof.
  unfold check_injective_factors; rewrite andb_true_iff; intros [H1 H2].
  apply (injective D i t s); [|now apply (independent_factors_shatter D A As)|easy].
  unfold check_independent_factors in H1; rewrite !andb_true_iff in H1. easy.
Qed.
