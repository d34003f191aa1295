(** * The pull of the rows

    Statement: fix a selection alpha.  With m_it the margins of W, Delta_it = gamma_i,alpha_i -
    gamma_it and mu_i = gamma_i,alpha_i - f_i(W), every slope of L is

        -n <grad L(W), V> = sum_it w_it m_it(V),   w_it = |l'(f_i)| s_it (Delta_it - mu_i),
        s_it = s_i,alpha_i exp(-m_it),

    and lower bounds of the margins bound s_it, s_i,alpha_i and mu_i.

    Source: docs/theory/basin.md, formula (2) and "Weights". *)

From Coq Require Import Arith Bool List Reals Lra Lia.
From AttSVM Require Import Dataset Statements Sums Integers Margins Loss Analysis LossFacts.
Local Open Scope R_scope.

(** ** Sums over the rejected tokens *)

(** The sum of f over the rejected tokens of a sample that selects token a of n. *)
Definition others (n a : nat) (f : nat -> R) : R :=
  sum n (fun t => if Nat.eqb t a then 0 else f t).

(** The sum of f over all rows (i, t), t rejected. *)
Definition rows (D : dataset) (alpha : selection) (f : nat -> nat -> R) : R :=
  sum (size D) (fun i => others (count D i) (selected alpha i) (f i)).

Lemma others_le : forall n a f g,
  (forall t, (t < n)%nat -> t <> a -> f t <= g t) -> others n a f <= others n a g.
Proof.
  intros n a f g H. apply sum_le. intros t T. destruct (Nat.eqb_spec t a); [lra|auto].
Qed.

Lemma others_plus : forall n a f g,
  others n a (fun t => f t + g t) = others n a f + others n a g.
Proof.
  intros. unfold others. rewrite <- sum_plus. apply sum_ext. intros t _.
  destruct (Nat.eqb t a); lra.
Qed.

Lemma others_scale : forall n a c f, others n a (fun t => c * f t) = c * others n a f.
Proof.
  intros. unfold others. rewrite <- sum_scale. apply sum_ext. intros t _.
  destruct (Nat.eqb t a); lra.
Qed.

Lemma others_ext : forall n a f g,
  (forall t, (t < n)%nat -> t <> a -> f t = g t) -> others n a f = others n a g.
Proof.
  intros n a f g H. apply Rle_antisym; apply others_le; intros; right; [|symmetry]; auto.
Qed.

Lemma others_nonneg : forall n a f,
  (forall t, (t < n)%nat -> t <> a -> 0 <= f t) -> 0 <= others n a f.
Proof.
  intros n a f H. apply sum_nonneg. intros t T. destruct (Nat.eqb_spec t a); [lra|auto].
Qed.

Lemma others_abs : forall n a f, Rabs (others n a f) <= others n a (fun t => Rabs (f t)).
Proof.
  intros n a f. eapply Rle_trans; [apply sum_abs|]. apply sum_le. intros t _.
  destruct (Nat.eqb t a); [rewrite Rabs_R0|]; lra.
Qed.

Lemma sum_others : forall n a f, (a < n)%nat -> sum n f = f a + others n a f.
Proof.
  intros n a f A.
  assert (E := sum_single n (fun t => if Nat.eqb t a then f t else 0) a A).
  simpl in E. rewrite Nat.eqb_refl in E. rewrite <- E.
  - unfold others. rewrite <- sum_plus. apply sum_ext. intros t _. destruct (Nat.eqb t a); lra.
  - intros t _ N. apply Nat.eqb_neq in N. rewrite N. reflexivity.
Qed.

Section Rows.
Variables (D : dataset) (alpha : selection).

Lemma rows_le : forall f g, (forall i t, rejected D alpha i t -> f i t <= g i t) ->
  rows D alpha f <= rows D alpha g.
Proof.
  intros f g H. apply sum_le. intros i I. apply others_le. intros t T N. apply H.
  repeat split; auto.
Qed.

Lemma rows_ext : forall f g, (forall i t, rejected D alpha i t -> f i t = g i t) ->
  rows D alpha f = rows D alpha g.
Proof.
  intros f g H. apply Rle_antisym; apply rows_le; intros; right; [|symmetry]; auto.
Qed.

Lemma rows_plus : forall f g,
  rows D alpha (fun i t => f i t + g i t) = rows D alpha f + rows D alpha g.
Proof. intros. unfold rows. rewrite <- sum_plus. apply sum_ext. intros. apply others_plus. Qed.

Lemma rows_scale : forall c f, rows D alpha (fun i t => c * f i t) = c * rows D alpha f.
Proof. intros. unfold rows. rewrite <- sum_scale. apply sum_ext. intros. apply others_scale. Qed.

Lemma rows_minus : forall f g,
  rows D alpha (fun i t => f i t - g i t) = rows D alpha f - rows D alpha g.
Proof.
  intros. rewrite (rows_ext _ (fun i t => f i t + -1 * g i t)) by (intros; ring).
  rewrite rows_plus, rows_scale. ring.
Qed.

Lemma rows_nonneg : forall f, (forall i t, rejected D alpha i t -> 0 <= f i t) ->
  0 <= rows D alpha f.
Proof.
  intros f H. apply sum_nonneg. intros i I. apply others_nonneg. intros t T N.
  apply H. repeat split; auto.
Qed.

End Rows.

(** ** The rows as a list, and extremes over them *)

Definition row_list (D : dataset) (alpha : selection) : list (nat * nat) :=
  flat_map (fun i => map (pair i) (filter (fun t => negb (Nat.eqb t (selected alpha i)))
                                          (seq 0 (count D i))))
           (seq 0 (size D)).

Lemma row_list_spec : forall D alpha i t, List.In (i, t)
  (row_list D alpha) <-> rejected D alpha i t.
Proof.
  intros D alpha i t. unfold row_list. rewrite in_flat_map. split.
  - intros (j & J & I). apply in_map_iff in I. destruct I as (u & E & I).
    injection E as -> ->. apply filter_In in I. destruct I as [I N].
    apply in_seq in J, I. apply negb_true_iff, Nat.eqb_neq in N. repeat split; lia || exact N.
  - intros (I & T & N). exists i. split; [apply in_seq; lia|]. apply in_map.
    apply filter_In. split; [apply in_seq; lia|]. apply negb_true_iff, Nat.eqb_neq, N.
Qed.

Lemma list_min : forall (l : list (nat * nat)) (f : nat -> nat -> R), l <> nil ->
  exists i t, List.In (i, t) l /\ forall j u, List.In (j, u) l -> f i t <= f j u.
Proof.
  induction l as [|[i t] l IH]; intros f N; [contradiction|].
  destruct l as [|p l].
  - exists i, t. split; [left; reflexivity|]. intros j u [E|[]]. injection E as -> ->. lra.
  - destruct (IH f) as (j & u & I & B); [discriminate|].
    destruct (Rle_dec (f i t) (f j u)) as [L|L].
    + exists i, t. split; [left; reflexivity|]. intros k v [E|K].
      * injection E as -> ->. lra.
      * specialize (B k v K). lra.
    + exists j, u. split; [right; exact I|]. intros k v [E|K].
      * injection E as -> ->. lra.
      * apply B, K.
Qed.

Lemma rejected_exists : forall D alpha, well_formed D = true ->
  forall i, (i < size D)%nat -> exists t, rejected D alpha i t.
Proof.
  intros D alpha F i I. destruct (wf_sample D F i I) as (C & _).
  destruct (Nat.eq_dec (selected alpha i) 0) as [E|N].
  - exists 1%nat. repeat split; lia.
  - exists 0%nat. repeat split; lia.
Qed.

Lemma rows_min : forall D alpha (f : nat -> nat -> R), well_formed D = true ->
  exists i t, rejected D alpha i t /\ forall j u, rejected D alpha j u -> f i t <= f j u.
Proof.
  intros D alpha f F.
  destruct (rejected_exists D alpha F 0 (well_formed_size D F)) as [t R].
  apply row_list_spec in R.
  destruct (list_min (row_list D alpha) f) as (i & u & I & B).
  - intros E. rewrite E in R. exact R.
  - exists i, u. split; [apply row_list_spec, I|]. intros j v J. apply B, row_list_spec, J.
Qed.

Lemma rows_term : forall D alpha f i t,
  (forall i t, rejected D alpha i t -> 0 <= f i t) -> rejected D alpha i t -> f i t
    <= rows D alpha f.
Proof.
  intros D alpha f i t P R. assert (R' := R). destruct R' as (I & T & N).
  assert (S1 := sum_term (count D i) (fun u => if Nat.eqb u
    (selected alpha i) then 0 else f i u) t).
  assert (S2 := sum_term (size D) (fun j => others (count D j) (selected alpha j) (f j)) i).
  apply Nat.eqb_neq in N. simpl in S1. rewrite N in S1.
  apply Rle_trans with (others (count D i) (selected alpha i) (f i)).
  - apply S1; [|exact T]. intros u U. destruct (Nat.eqb_spec u (selected alpha i)); [lra|].
    apply P. repeat split; auto.
  - apply S2; [|exact I]. intros j J. apply others_nonneg. intros u U Nu. apply P.
    repeat split; auto.
Qed.

(** ** The weights of one sample *)

Section Weights.
Variables (n a : nat) (h g : nat -> R).
Hypothesis A : (a < n)%nat.

Let s := softmax n h.
Let m (t : nat) : R := h a - h t.
Let drop : R := g a - mean n s g.

Lemma positive_count : (0 < n)%nat.
Proof. lia. Qed.

Lemma softmax_margin : forall t, s t = s a * exp (- m t).
Proof.
  intros t. unfold s, softmax, m. replace (h t) with (h a + - (h a - h t)) at 1 by ring.
  rewrite exp_plus. unfold Rdiv. ring.
Qed.

Lemma softmax_selected : s a * (1 + others n a (fun t => exp (- m t))) = 1.
Proof.
  assert (E := softmax_sum n h positive_count). fold s in E.
  rewrite (sum_others n a) in E by assumption. rewrite <- E at 2.
  rewrite Rmult_plus_distr_l, <- others_scale, Rmult_1_r. f_equal. apply others_ext.
  intros t _ _. symmetry. apply softmax_margin.
Qed.

Lemma drop_rows : drop = others n a (fun t => s t * (g a - g t)).
Proof.
  unfold drop. assert (E := softmax_sum n h positive_count). fold s in E.
  replace (g a) with (sum n s * g a) at 1 by (rewrite E; ring).
  rewrite <- sum_scale_r. unfold mean. rewrite <- sum_minus, (sum_others n a) by assumption.
  replace (s a * g a - s a * g a) with 0 by ring. rewrite Rplus_0_l. apply others_ext.
  intros; ring.
Qed.

(** The covariance with k, through the margins of k. *)
Lemma covariance_rows : forall k,
  covariance n s k g = others n a (fun t => s t * ((g a - g t) - drop) * (k a - k t)).
Proof.
  intros k. rewrite covariance_tokens.
  assert (Z : sum n (fun t => s t * (g t - mean n s g)) = 0)
    by (apply softmax_deviations, positive_count).
  transitivity (sum n (fun t => s t * ((g a - g t) - drop) * (k a - k t))).
  - transitivity (sum n (fun t => s t * (g t - mean n s g) * k t
                                  - k a * (s t * (g t - mean n s g)))).
    + rewrite sum_minus, (sum_scale n (k a)), Z. ring.
    + apply sum_ext. intros t _. unfold drop. ring.
  - rewrite (sum_others n a) by assumption. ring_simplify. apply others_ext. intros; ring.
Qed.

(** Bounds from lower bounds x_t of the margins. *)
Section Bounds.
Variable low : nat -> R.
Hypothesis below : forall t, (t < n)%nat -> t <> a -> low t <= m t.

Let reach : R := others n a (fun t => Rabs (g a - g t) * exp (- low t)).
Let floor : R := / (1 + others n a (fun t => exp (- low t))).

Lemma softmax_selected_le : 0 < s a <= 1.
Proof.
  assert (P : 0 < s a) by (apply softmax_pos, positive_count). split; [exact P|].
  assert (E := softmax_selected).
  assert (0 <= others n a (fun t => exp (- m t)))
    by (apply others_nonneg; intros; apply Rlt_le, exp_pos). nra.
Qed.

Lemma softmax_le : forall t, (t < n)%nat -> t <> a -> s t <= exp (- m t) /\ s t <= exp (- low t).
Proof.
  intros t T N. assert (S := softmax_selected_le). assert (P := exp_pos (- m t)).
  assert (B : exp (- m t) <= exp (- low t)).
  { destruct (below t T N) as [L|L]; [apply Rlt_le, exp_increasing; lra|rewrite L; lra]. }
  rewrite softmax_margin. split; nra.
Qed.

Lemma drop_le : Rabs drop <= reach.
Proof.
  rewrite drop_rows. eapply Rle_trans; [apply others_abs|]. apply others_le. intros t T N.
  rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_l; [apply Rabs_pos|].
  rewrite Rabs_right by (apply Rle_ge, Rlt_le, softmax_pos, positive_count).
  apply softmax_le; assumption.
Qed.

Lemma floor_le : 0 < floor <= s a.
Proof.
  assert (L : others n a (fun t => exp (- m t)) <= others n a (fun t => exp (- low t))).
  { apply others_le. intros t T N.
    destruct (below t T N) as [L|L]; [apply Rlt_le, exp_increasing; lra|rewrite L; lra]. }
  assert (M : 0 <= others n a (fun t => exp (- m t)))
    by (apply others_nonneg; intros; apply Rlt_le, exp_pos).
  split; [apply Rinv_0_lt_compat; lra|].
  assert (S := softmax_selected_le). assert (E := softmax_selected).
  apply Rmult_le_reg_r with (1 + others n a (fun t => exp (- low t))); [lra|].
  unfold floor. rewrite Rinv_l by lra. nra.
Qed.

End Bounds.
End Weights.

(** ** The slopes of the loss, through the rows *)

Definition gap (D : dataset) (alpha : selection) (i t : nat) : R :=
  score D i (selected alpha i) - score D i t.

Definition drop (D : dataset) (alpha : selection) (W : matrix) (i : nat) : R :=
  score D i (selected alpha i) - output D W i.

Definition pull (dl : R -> R) (D : dataset) (alpha : selection) (W : matrix) (i t : nat) : R :=
  - dl (output D W i) * (weight D W i t * (gap D alpha i t - drop D alpha W i)).

Theorem slope_rows : forall l dl D alpha W V r,
  decreasing_loss l dl -> well_formed D = true -> selects D alpha = true ->
  slope (loss l D) W V r ->
  - INR (size D) * r = rows D alpha (fun i t => pull dl D alpha W i t * margin D alpha V i t).
Proof.
  intros l dl D alpha W V r L F Se Sl.
  rewrite (slope_unique _ _ _ _ _ Sl (loss_slope l dl D W V L F)). unfold slope_formula.
  assert (P := lt_0_INR _ (well_formed_size D F)).
  rewrite <- Rmult_assoc, Ropp_mult_distr_l_reverse, Rinv_r by lra.
  rewrite <- sum_scale. apply sum_ext. intros i I.
  destruct (selects_spec D alpha Se) as [_ Sa].
  unfold weight. rewrite (covariance_rows (count D i) (selected alpha i)) by auto.
  rewrite <- Rmult_assoc, <- others_scale. apply others_ext. intros t T N.
  rewrite margin_logit. unfold pull, gap, drop, output, weight.
  generalize (mean (count D i) (softmax (count D i) (logit D W i)) (score D i)). intros f. ring.
Qed.
