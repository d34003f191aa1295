(** Vectors and matrices of integers as lists, and the real functions that they stand for.

    A list stands for its entries followed by zeros, so no operation can lose an entry. *)

From Coq Require Import Arith Bool Lia List Reals Lra ZArith.
From AttSVM Require Import Dataset Statements Sums.
Import ListNotations.
Local Open Scope R_scope.

(** Whether [f] holds below [n]. *)
Definition all (n : nat) (f : nat -> bool) : bool := forallb f (seq 0 n).

Lemma all_spec n f : all n f = true -> forall k, (k < n)%nat -> f k = true.
Proof.
  unfold all; rewrite forallb_forall; intros H k Hk. apply H, in_seq; lia.
Qed.

Definition vec (u : list Z) (a : nat) : R := IZR (nth a u 0%Z).
Definition mat (M : list (list Z)) (a b : nat) : R := vec (nth a M []) b.

Lemma nth_nil A k (e : A) : nth k [] e = e.
Proof. now destruct k. Qed.

Lemma vec_nil a : vec [] a = 0.
Proof. unfold vec; now rewrite nth_nil. Qed.

Lemma mat_nil a b : mat [] a b = 0.
Proof. unfold mat; rewrite nth_nil; apply vec_nil. Qed.

Lemma entry_vec den u a : entry den u a = vec u a / IZR (Zpos den).
Proof. reflexivity. Qed.

Lemma den_pos den : 0 < IZR (Zpos den).
Proof. apply IZR_lt; reflexivity. Qed.

Lemma den_neq den : IZR (Zpos den) <> 0.
Proof. pose proof (den_pos den); lra. Qed.

(** ** Vectors *)

Fixpoint add (u w : list Z) : list Z :=
  match u, w with
  | [], _ => w
  | _, [] => u
  | a :: u', b :: w' => (a + b)%Z :: add u' w'
  end.

Definition scale (c : Z) (u : list Z) : list Z := map (Z.mul c) u.

Fixpoint dot (u w : list Z) : Z :=
  match u, w with
  | a :: u', b :: w' => (a * b + dot u' w')%Z
  | _, _ => 0%Z
  end.

Lemma vec_add u w a : vec (add u w) a = vec u a + vec w a.
Proof.
  revert w a; induction u as [|c u IH]; intros w a; simpl.
  - rewrite vec_nil; lra.
  - destruct w as [|e w]; [rewrite vec_nil; lra|].
    destruct a; unfold vec in *; simpl; [apply plus_IZR|apply IH].
Qed.

Lemma vec_scale c u a : vec (scale c u) a = IZR c * vec u a.
Proof.
  revert a; induction u as [|e u IH]; intros a; simpl.
  - rewrite vec_nil; lra.
  - destruct a; unfold vec in *; simpl; [apply mult_IZR|apply IH].
Qed.

Lemma sum_shift n f : sum (S n) f = f O + sum n (fun k => f (S k)).
Proof.
  induction n; [simpl; lra|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IHn. simpl; lra.
Qed.

Lemma dot_spec u w d : length u = d -> IZR (dot u w) = sum d (fun a => vec u a * vec w a).
Proof.
  intros <-; revert w; induction u as [|c u IH]; intros w; [reflexivity|].
  simpl length; rewrite sum_shift. destruct w as [|e w].
  - simpl dot. rewrite vec_nil, sum_zero; [lra|]. intros; rewrite vec_nil; lra.
  - simpl dot; rewrite plus_IZR, mult_IZR, IH. reflexivity.
Qed.

(** ** Matrices *)

Fixpoint add_rows (M N : list (list Z)) : list (list Z) :=
  match M, N with
  | [], _ => N
  | _, [] => M
  | u :: M', w :: N' => add u w :: add_rows M' N'
  end.

Definition outer (u w : list Z) : list (list Z) := map (fun c => scale c w) u.

Definition times (M : list (list Z)) (w : list Z) : list Z := map (dot w) M.

Fixpoint square (M : list (list Z)) : Z :=
  match M with
  | [] => 0%Z
  | u :: M' => (dot u u + square M')%Z
  end.

Definition is_matrix (rows columns : nat) (M : list (list Z)) : bool :=
  Nat.eqb (length M) rows && forallb (of_length columns) M.

Lemma mat_add M N a b : mat (add_rows M N) a b = mat M a b + mat N a b.
Proof.
  revert N a; induction M as [|u M IH]; intros N a; simpl.
  - rewrite mat_nil; lra.
  - destruct N as [|w N]; [rewrite mat_nil; lra|].
    destruct a; unfold mat in *; simpl; [apply vec_add|apply IH].
Qed.

Lemma mat_outer u w a b : mat (outer u w) a b = vec u a * vec w b.
Proof.
  revert a; induction u as [|c u IH]; intros a; simpl.
  - rewrite mat_nil, vec_nil; lra.
  - destruct a; unfold mat, vec in *; simpl; [apply vec_scale|apply IH].
Qed.

Lemma times_spec M w d a : length w = d ->
  vec (times M w) a = sum d (fun b => mat M a b * vec w b).
Proof.
  intros Hw; revert a; induction M as [|u M IH]; intros a; simpl.
  - rewrite vec_nil, sum_zero; [easy|]. intros; rewrite mat_nil; lra.
  - destruct a; [|apply IH].
    change (IZR (dot w u) = sum d (fun b => vec u b * vec w b)).
    rewrite (dot_spec _ _ d Hw); apply sum_ext; intros; ring.
Qed.

Lemma length_times M w : length (times M w) = length M.
Proof. apply map_length. Qed.

(** uᵀ M w in integers. *)
Lemma form_spec d u M w : length u = d -> length w = d ->
  IZR (dot u (times M w)) = form d (vec u) (mat M) (vec w).
Proof.
  intros Hu Hw; rewrite (dot_spec _ _ d Hu). apply sum_ext; intros a _.
  rewrite (times_spec _ _ d) by easy. rewrite <- sum_scale; apply sum_ext; intros; ring.
Qed.

Lemma is_matrix_length r c M : is_matrix r c M = true -> length M = r.
Proof. unfold is_matrix; rewrite andb_true_iff, Nat.eqb_eq; now intros [H _]. Qed.

Lemma is_matrix_row r c M a : is_matrix r c M = true -> (a < r)%nat ->
  length (nth a M []) = c.
Proof.
  unfold is_matrix; rewrite andb_true_iff, Nat.eqb_eq, forallb_forall; intros [Hl H] Ha.
  apply Nat.eqb_eq, H, nth_In; lia.
Qed.

Lemma square_spec d M : is_matrix d d M = true -> IZR (square M) = norm2 d (mat M).
Proof.
  intros H. assert (E : forall N, (forall a, (a < length N)%nat -> length (nth a N []) = d) ->
    IZR (square N) = sum (length N) (fun a => sum d (fun b => mat N a b * mat N a b))).
  { induction N as [|u N IH]; intros HN; [reflexivity|].
    simpl length; rewrite sum_shift; simpl square.
    rewrite plus_IZR, (dot_spec _ _ d) by (apply (HN O); simpl; lia).
    rewrite IH; [reflexivity|]. intros a Ha; apply (HN (S a)); simpl; lia. }
  rewrite E.
  - now rewrite (is_matrix_length _ _ _ H).
  - intros a Ha; apply (is_matrix_row _ _ _ _ H). now rewrite <- (is_matrix_length _ _ _ H).
Qed.

(** ** Comparisons *)

Lemma Zle_IZR a b : (a <=? b)%Z = true -> IZR a <= IZR b.
Proof. intros H; now apply IZR_le, Z.leb_le. Qed.

Lemma Zlt_IZR a b : (a <? b)%Z = true -> IZR a < IZR b.
Proof. intros H; now apply IZR_lt, Z.ltb_lt. Qed.

Lemma Zeq_IZR a b : (a =? b)%Z = true -> IZR a = IZR b.
Proof. intros H; now apply f_equal, Z.eqb_eq. Qed.

Lemma rational_mat M q a b : rational M q a b = mat M a b / IZR (Zpos q).
Proof. reflexivity. Qed.

Definition is_zero (M : list (list Z)) : bool := forallb (forallb (Z.eqb 0)) M.

Lemma is_zero_spec M a b : is_zero M = true -> mat M a b = 0.
Proof.
  unfold is_zero, mat; rewrite forallb_forall; intros H.
  destruct (nth_in_or_default a M []) as [Ha|E]; [|rewrite E; apply vec_nil].
  specialize (H _ Ha); rewrite forallb_forall in H.
  unfold vec; destruct (nth_in_or_default b (nth a M []) 0%Z) as [Hb|E]; [|now rewrite E].
  now rewrite <- (proj1 (Z.eqb_eq _ _) (H _ Hb)).
Qed.
