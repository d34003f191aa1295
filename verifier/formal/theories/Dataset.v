(** A dataset of one attention layer, and the real numbers that the statements are about.

    The numbers of a dataset are integers over three common denominators, so they are exact.
    Everything below is a definition: this file and Statements.v are all that a reader must
    understand to know what a checked certificate says. Samples and tokens count from 0.
    The logical name of the library is AttSVM: coqc -Q theories AttSVM theories/Dataset.v *)

From Coq Require Import Bool ZArith List Reals.
Import ListNotations.
Local Open Scope R_scope.

(** Sample i: its tokens x_i0, x_i1, ..., its query z_i, its label Y_i. *)
Record sample : Set := Sample {
  tokens : list (list Z);
  query : list Z;
  label : Z }.

(** Tokens, queries and head are the integers below divided by [token_den], [query_den] and
    [head_den]; [dim] is the dimension d of all of them. *)
Record dataset : Set := Dataset {
  dim : nat;
  token_den : positive;
  query_den : positive;
  head_den : positive;
  samples : list sample;
  head : list Z }.

(** A selection: one token for every sample. *)
Definition selection : Set := list nat.

(** ** Shapes *)

Definition of_length (d : nat) (u : list Z) : bool := Nat.eqb (length u) d.

(** At least two tokens, all vectors of dimension d, the label 1 or -1. *)
Definition well_formed_sample (d : nat) (s : sample) : bool :=
  Nat.leb 2 (length (tokens s)) && forallb (of_length d) (tokens s)
  && of_length d (query s) && (Z.eqb (label s) 1 || Z.eqb (label s) (-1)).

Definition well_formed (D : dataset) : bool :=
  Nat.leb 1 (dim D) && Nat.leb 1 (length (samples D)) && of_length (dim D) (head D)
  && forallb (well_formed_sample (dim D)) (samples D).

(** ** The real numbers *)

(** The number of samples, n. *)
Definition size (D : dataset) : nat := length (samples D).

Definition sample_of (D : dataset) (i : nat) : sample :=
  nth i (samples D) (Sample [] [] 0%Z).

(** The number of tokens of sample i, T_i. *)
Definition count (D : dataset) (i : nat) : nat := length (tokens (sample_of D i)).

(** Entry a of the vector u / den. *)
Definition entry (den : positive) (u : list Z) (a : nat) : R :=
  IZR (nth a u 0%Z) / IZR (Zpos den).

(** Entry a of the token x_it, entry b of the query z_i, entry a of the head v, the label Y_i. *)
Definition x (D : dataset) (i t a : nat) : R :=
  entry (token_den D) (nth t (tokens (sample_of D i)) []) a.
Definition z (D : dataset) (i b : nat) : R := entry (query_den D) (query (sample_of D i)) b.
Definition v (D : dataset) (a : nat) : R := entry (head_den D) (head D) a.
Definition Y (D : dataset) (i : nat) : R := IZR (label (sample_of D i)).

(** f 0 + f 1 + ... + f (n - 1). *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

(** ** Attention

    A matrix W of d rows and d columns is a function of two indices; what it is outside of them
    is never used. *)
Definition matrix : Type := nat -> nat -> R.

(** uᵀ W w for vectors u, w of dimension d. *)
Definition form (d : nat) (u : nat -> R) (W : matrix) (w : nat -> R) : R :=
  sum d (fun a => sum d (fun b => u a * W a b * w b)).

(** The logit x_itᵀ W z_i. *)
Definition logit (D : dataset) (W : matrix) (i t : nat) : R := form (dim D) (x D i t) W (z D i).

(** The score Y_i v·x_it. *)
Definition score (D : dataset) (i t : nat) : R :=
  Y D i * sum (dim D) (fun a => v D a * x D i t a).

(** The token that alpha selects in sample i. *)
Definition selected (alpha : selection) (i : nat) : nat := nth i alpha 0%nat.

(** A token for every sample, and no more. *)
Definition selects (D : dataset) (alpha : selection) : bool :=
  Nat.eqb (length alpha) (size D)
  && forallb (fun i => Nat.ltb (selected alpha i) (count D i)) (seq 0 (size D)).

(** Token t of sample i exists and is rejected by alpha. *)
Definition rejected (D : dataset) (alpha : selection) (i t : nat) : Prop :=
  (i < size D)%nat /\ (t < count D i)%nat /\ t <> selected alpha i.

(** The margin (x_ia - x_it)ᵀ W z_i over the rejected token t, where a is the selected one. *)
Definition margin (D : dataset) (alpha : selection) (W : matrix) (i t : nat) : R :=
  form (dim D) (fun a => x D i (selected alpha i) a - x D i t a) W (z D i).

(** The squared Frobenius norm of W, and the squared distance of V and W. *)
Definition norm2 (d : nat) (W : matrix) : R := sum d (fun a => sum d (fun b => W a b * W a b)).
Definition distance2 (d : nat) (V W : matrix) : R := norm2 d (fun a b => V a b - W a b).
