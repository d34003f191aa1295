(** * Certificates of the low-norm limit and of the selection trap

    Statement: if [check_low_norm] accepts, gradient descent on the actual loss L with the stated
    step size from the stated rational matrix converges in direction to the solution of
    Att-SVM(alpha), alpha the selection of the largest scores ([low_norm_sound]); if [check_trap]
    accepts, it is moreover trapped ([trap_sound]). The checks evaluate the conditions of Trap.v
    in integers: p is the number of binary places, 2^k the number of factors of an exponential.

    Source: docs/theory/global_limits.md, "How the inequality is evaluated". *)

From Coq Require Import Arith Bool ZArith List Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Integers Margins Feasibility Scores Loss Analysis
  AnalysisLimits AnalysisExp LossFacts LossRows TrapSmooth TrapConditions TrapDescent Trap.
Import ListNotations.
Local Open Scope R_scope.

Inductive named_loss : Set := Logistic | Exponential | Correlation.

Definition loss_of (c : named_loss) : R -> R :=
  match c with Logistic => logistic | Exponential => exponential | Correlation => correlation end.
Definition slope_of (c : named_loss) : R -> R :=
  match c with Logistic => logistic' | Exponential => exponential'
    | Correlation => correlation' end.
Definition bend_of (c : named_loss) : R -> R :=
  match c with
  | Logistic => logistic'' | Exponential => exponential'' | Correlation => correlation''
  end.

(** ** The checks *)

Section Check.
Variables (D : dataset) (alpha : selection) (c : named_loss).
Variables (p k : nat).

Notation one := (one_fx p).
Notation Exp_down := (exp_down p k).
Notation Exp_up := (exp_up p k).
Notation Fine := (exp_fine p k).

(** Sums and maxima of n integers. *)
Definition sum_fx (n : nat) (f : nat -> Z) : Z := fold_right (fun t r => (f t + r)%Z) 0%Z (seq 0 n).
Definition max_fx (n : nat) (f : nat -> Z) : Z :=
  fold_right (fun t r => Z.max (f t) r) (f 0%nat) (seq 0 n).

(** Scores are integers over this. *)
Definition score_den : Z := (Zpos (head_den D) * Zpos (token_den D))%Z.
Definition topZ (i : nat) : Z := scoreZ D i (selected alpha i).
Definition lowZ (i : nat) : Z := (- max_fx (count D i) (fun t => - scoreZ D i t))%Z.
Definition secondZ (i : nat) : Z :=
  max_fx (count D i) (fun t => if Nat.eqb t (selected alpha i) then lowZ i else scoreZ D i t).

(** An upper bound of the smoothness constant times n. *)
Definition square (u : list Z) : Z := dot u u.
Definition diameterZ (i : nat) : Z :=
  (max_fx (count D i) (fun t => max_fx (count D i) (fun u =>
     square (add (xZ D i t) (scale (-1) (xZ D i u))))) * square (zZ D i))%Z.
Definition slope_up (i : nat) : Z :=
  match c with
  | Logistic => div_up p one (one + Exp_down (lowZ i) score_den)
  | Exponential => Exp_up (- lowZ i) score_den
  | Correlation => one
  end.
Definition bend_up (i : nat) : Z :=
  match c with
  | Logistic => div_up p 1 4
  | Exponential => Exp_up (- lowZ i) score_den
  | Correlation => 0%Z
  end.
Definition smoothness (i : nat) : Z :=
  let range := div_up p (topZ i - lowZ i) score_den in
  mul_up p (div_up p (diameterZ i) (4 * (Zpos (token_den D) * Zpos (query_den D)) ^ 2))
    (mul_up p range (slope_up i + div_up p (mul_up p range (bend_up i)) (4 * one))).

Definition check_step (en ed : positive) : bool :=
  all (size D) (fun i => Fine (- lowZ i)%Z score_den) &&
  (Zpos en * sum_fx (size D) smoothness <? 2 * Z.of_nat (size D) * Zpos ed * one)%Z.

(** An upper bound of the deficit gamma_i(1) - f_i at the matrix M / q. *)
Section Start.
Variables (M : list (list Z)) (q : positive).

Definition others_fx (i : nat) (f : nat -> Z) : Z :=
  sum_fx (count D i) (fun t => if Nat.eqb t (selected alpha i) then 0%Z else f t).
Definition falls (i : nat) : list Z :=
  let h := logits D M i in
  map (fun x => (x - nth (selected alpha i) h 0)%Z) h.
Definition deficit (i : nat) : Z :=
  let h := falls i in
  let unit := unit_margin D q in
  div_up p (others_fx i (fun t => mul_up p (Exp_up (nth t h 0%Z) unit)
                                           (div_up p (topZ i - scoreZ D i t) score_den)))
           (one + others_fx i (fun t => Exp_down (nth t h 0%Z) unit)).
Definition fine_start (i : nat) : bool :=
  let h := falls i in
  all (count D i) (fun t => Fine (nth t h 0%Z) (unit_margin D q)).

(** The numerator of (bound of) - f_i over one * score_den. *)
Definition output_arg (d : Z) (i : nat) : Z := (d * score_den - topZ i * one)%Z.

Definition term (i : nat) (d : Z) : Z :=
  match c with
  | Logistic => div_up p (one + Exp_up (output_arg d i) (one * score_den))
                         (one + Exp_down (- topZ i) score_den)
  | Exponential => (Exp_up (output_arg d i) (one * score_den) - Exp_down (- topZ i) score_den)%Z
  | Correlation => d
  end.
Definition joined (x y : Z) : Z :=
  match c with Logistic => mul_up p x y | _ => (x + y)%Z end.
Fixpoint excess_up (n : nat) : Z :=
  match n with
  | O => match c with Logistic => one | _ => 0%Z end
  | S i => joined (excess_up i) (term i (deficit i))
  end.

(** The level that outputs must not fall to, over 2 * score_den. *)
Definition level (halfway : bool) (i : nat) : Z :=
  (secondZ i + if halfway then topZ i else secondZ i)%Z.
Definition limit_down (halfway : bool) (i : nat) : Z :=
  let a := Exp_down (- level halfway i) (2 * score_den) in
  let b := Exp_up (- topZ i) score_den in
  match c with
  | Logistic => div_down p (one + a) (one + b)
  | Exponential => (a - b)%Z
  | Correlation => div_down p (2 * topZ i - level halfway i) (2 * score_den)
  end.

Definition check_start (halfway : bool) : bool :=
  all (size D) (fun i => fine_start i && Fine (- topZ i)%Z score_den
    && Fine (output_arg (deficit i) i) (one * score_den)%Z && (secondZ i <? topZ i)%Z)
  && (let total := excess_up (size D) in
      all (size D) (fun i => (total <? limit_down halfway i)%Z)).

Definition check_low_norm (en ed : positive) (S : list (list Z)) (qs : positive) : bool :=
  check_optimal D alpha && is_matrix (dim D) (dim D) M && check_feasible D alpha S qs
  && check_step en ed && check_start false.

Definition check_trap (en ed : positive) : bool :=
  check_optimal D alpha && is_matrix (dim D) (dim D) M && check_step en ed && check_start true.
End Start.
End Check.
