;; The inner loops of arithmetic, comparison and logic over whole columns, block by block. Knows only
;; numbers and bytes in its own memory: no types, no nulls. `npm run build:wasm` assembles this file
;; into numbers.wasm.ts.
;;
;; The memory has 64 KiB for each operand, 8,192 numbers: the left one at 0, where results go, and the
;; right one at 65,536; then 64 KiB of truth values, one byte a row (0 false, 1 unknown, 2 true), at
;; 131,072, and as many at 196,608. Rows are gone through in pairs, eight or sixteen at a time: what lies
;; behind the last of them is overwritten.
(module
  (memory (export "memory") 5 5)

  ;; left = left op right
  (func (export "add_f64") (param $rows i32)
    (local $at i32) (local $end i32)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store (local.get $at) (f64x2.add
          (v128.load (local.get $at)) (v128.load offset=65536 (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  (func (export "sub_f64") (param $rows i32)
    (local $at i32) (local $end i32)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store (local.get $at) (f64x2.sub
          (v128.load (local.get $at)) (v128.load offset=65536 (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  (func (export "mul_f64") (param $rows i32)
    (local $at i32) (local $end i32)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store (local.get $at) (f64x2.mul
          (v128.load (local.get $at)) (v128.load offset=65536 (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  (func (export "div_f64") (param $rows i32)
    (local $at i32) (local $end i32)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store (local.get $at) (f64x2.div
          (v128.load (local.get $at)) (v128.load offset=65536 (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  ;; The same for integers: 1 where one of the results needs more than 64 bits.
  (func (export "add_i64") (param $rows i32) (result i32)
    (local $at i32) (local $end i32) (local $a v128) (local $b v128) (local $r v128) (local $over v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (v128.load (local.get $at)))
        (local.set $b (v128.load offset=65536 (local.get $at)))
        (local.set $r (i64x2.add (local.get $a) (local.get $b)))
        (local.set $over (v128.or (local.get $over)
          (v128.and (v128.xor (local.get $a) (local.get $r)) (v128.xor (local.get $b) (local.get $r)))))
        (v128.store (local.get $at) (local.get $r))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (i32.ne (i64x2.bitmask (local.get $over)) (i32.const 0)))

  (func (export "sub_i64") (param $rows i32) (result i32)
    (local $at i32) (local $end i32) (local $a v128) (local $b v128) (local $r v128) (local $over v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (v128.load (local.get $at)))
        (local.set $b (v128.load offset=65536 (local.get $at)))
        (local.set $r (i64x2.sub (local.get $a) (local.get $b)))
        (local.set $over (v128.or (local.get $over)
          (v128.and (v128.xor (local.get $a) (local.get $b)) (v128.xor (local.get $a) (local.get $r)))))
        (v128.store (local.get $at) (local.get $r))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (i32.ne (i64x2.bitmask (local.get $over)) (i32.const 0)))

  ;; Products of which both sides together have at most 62 bits; 1 where one has more.
  (func (export "mul_i64") (param $rows i32) (result i32)
    (local $at i32) (local $end i32) (local $a i64) (local $b i64)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i64.load (local.get $at)))
        (local.set $b (i64.load offset=65536 (local.get $at)))
        (if (i64.lt_u
            (i64.add
              (i64.clz (i64.xor (local.get $a) (i64.shr_s (local.get $a) (i64.const 63))))
              (i64.clz (i64.xor (local.get $b) (i64.shr_s (local.get $b) (i64.const 63)))))
            (i64.const 66))
          (then (return (i32.const 1))))
        (i64.store (local.get $at) (i64.mul (local.get $a) (local.get $b)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (i32.const 0))

  ;; Quotients are cut towards zero. 1 for a division by zero, and for one by -1, which may not fit.
  (func (export "div_i64") (param $rows i32) (result i32)
    (local $at i32) (local $end i32) (local $a i64) (local $b i64)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i64.load (local.get $at)))
        (local.set $b (i64.load offset=65536 (local.get $at)))
        (if (i64.le_u (i64.add (local.get $b) (i64.const 1)) (i64.const 1))
          (then (return (i32.const 1))))
        ;; Processors divide 32 bits several times faster.
        (if (i64.eqz (i64.shr_u (i64.or (local.get $a) (local.get $b)) (i64.const 32)))
          (then (i64.store (local.get $at) (i64.extend_i32_u
            (i32.div_u (i32.wrap_i64 (local.get $a)) (i32.wrap_i64 (local.get $b))))))
          (else (i64.store (local.get $at) (i64.div_s (local.get $a) (local.get $b)))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (i32.const 0))

  ;; Left sides times $power, without a sign, by the right sides, rounded half away from zero, with the
  ;; upper halves of 128 bits at 131,072. 0 where none of these is needed, 1 where one is, 2 for a
  ;; division by zero.
  (func (export "quo_i64") (param $rows i32) (param $power i64) (result i32)
    (local $at i32) (local $end i32) (local $a i64) (local $b i64) (local $low i64) (local $high i64)
    (local $p0 i64) (local $p1 i64) (local $cross i64) (local $middle i64) (local $shift i64)
    (local $v i64) (local $v0 i64) (local $v1 i64) (local $q i64) (local $digit i64) (local $rest i64)
    (local $upper i64) (local $wide i64)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $p0 (i64.and (local.get $power) (i64.const 0xffffffff)))
    (local.set $p1 (i64.shr_u (local.get $power) (i64.const 32)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i64.load (local.get $at)))
        (if (i64.lt_s (local.get $a) (i64.const 0))
          (then (local.set $a (i64.sub (i64.const 0) (local.get $a)))))
        (local.set $b (i64.load offset=65536 (local.get $at)))
        (if (i64.lt_s (local.get $b) (i64.const 0))
          (then (local.set $b (i64.sub (i64.const 0) (local.get $b)))))
        ;; The product, of 128 bits, by halves of both sides.
        (local.set $low (i64.mul (i64.and (local.get $a) (i64.const 0xffffffff)) (local.get $p0)))
        (local.set $cross (i64.mul (i64.and (local.get $a) (i64.const 0xffffffff)) (local.get $p1)))
        (local.set $middle (i64.mul (i64.shr_u (local.get $a) (i64.const 32)) (local.get $p0)))
        (local.set $high (i64.add
          (i64.mul (i64.shr_u (local.get $a) (i64.const 32)) (local.get $p1))
          (i64.add
            (i64.shr_u (local.get $cross) (i64.const 32))
            (i64.shr_u (local.get $middle) (i64.const 32)))))
        (local.set $middle (i64.add
          (i64.shr_u (local.get $low) (i64.const 32))
          (i64.add
            (i64.and (local.get $cross) (i64.const 0xffffffff))
            (i64.and (local.get $middle) (i64.const 0xffffffff)))))
        (local.set $low (i64.or
          (i64.and (local.get $low) (i64.const 0xffffffff))
          (i64.shl (local.get $middle) (i64.const 32))))
        (local.set $high
          (i64.add (local.get $high) (i64.shr_u (local.get $middle) (i64.const 32))))
        (if (i64.eqz (local.get $b)) (then (return (i32.const 2))))
        (local.set $upper (i64.const 0))
        (if (i64.ge_u (local.get $high) (local.get $b))
          (then
            (local.set $upper (i64.div_u (local.get $high) (local.get $b)))
            (local.set $high
              (i64.sub (local.get $high) (i64.mul (local.get $upper) (local.get $b))))))
        (if (i64.eqz (local.get $high))
          (then
            (local.set $q (i64.div_u (local.get $low) (local.get $b)))
            (local.set $rest
              (i64.sub (local.get $low) (i64.mul (local.get $q) (local.get $b)))))
          (else
            ;; Two digits of 32 bits, each guessed from the upper half of the divisor, whose highest
            ;; bit is set: a guess is at most two too large.
            (local.set $shift (i64.clz (local.get $b)))
            (local.set $v (i64.shl (local.get $b) (local.get $shift)))
            (local.set $v1 (i64.shr_u (local.get $v) (i64.const 32)))
            (local.set $v0 (i64.and (local.get $v) (i64.const 0xffffffff)))
            (local.set $high (i64.or
              (i64.shl (local.get $high) (local.get $shift))
              (i64.shr_u
                (i64.shr_u (local.get $low) (i64.const 1))
                (i64.sub (i64.const 63) (local.get $shift)))))
            (local.set $low (i64.shl (local.get $low) (local.get $shift)))
            (local.set $digit (i64.div_u (local.get $high) (local.get $v1)))
            (local.set $rest
              (i64.sub (local.get $high) (i64.mul (local.get $digit) (local.get $v1))))
            (block $right
              (loop $less
                (br_if $right (i32.eqz (i32.or
                  (i64.gt_u (local.get $digit) (i64.const 0xffffffff))
                  (i64.gt_u
                    (i64.mul (local.get $digit) (local.get $v0))
                    (i64.or
                      (i64.shl (local.get $rest) (i64.const 32))
                      (i64.shr_u (local.get $low) (i64.const 32)))))))
                (local.set $digit (i64.sub (local.get $digit) (i64.const 1)))
                (local.set $rest (i64.add (local.get $rest) (local.get $v1)))
                (br_if $less (i64.le_u (local.get $rest) (i64.const 0xffffffff)))))
            (local.set $q (i64.shl (local.get $digit) (i64.const 32)))
            (local.set $high (i64.sub
              (i64.or
                (i64.shl (local.get $high) (i64.const 32))
                (i64.shr_u (local.get $low) (i64.const 32)))
              (i64.mul (local.get $digit) (local.get $v))))
            (local.set $low (i64.and (local.get $low) (i64.const 0xffffffff)))
            (local.set $digit (i64.div_u (local.get $high) (local.get $v1)))
            (local.set $rest
              (i64.sub (local.get $high) (i64.mul (local.get $digit) (local.get $v1))))
            (block $right
              (loop $less
                (br_if $right (i32.eqz (i32.or
                  (i64.gt_u (local.get $digit) (i64.const 0xffffffff))
                  (i64.gt_u
                    (i64.mul (local.get $digit) (local.get $v0))
                    (i64.or (i64.shl (local.get $rest) (i64.const 32)) (local.get $low))))))
                (local.set $digit (i64.sub (local.get $digit) (i64.const 1)))
                (local.set $rest (i64.add (local.get $rest) (local.get $v1)))
                (br_if $less (i64.le_u (local.get $rest) (i64.const 0xffffffff)))))
            (local.set $q (i64.add (local.get $q) (local.get $digit)))
            (local.set $rest (i64.shr_u
              (i64.sub
                (i64.or (i64.shl (local.get $high) (i64.const 32)) (local.get $low))
                (i64.mul (local.get $digit) (local.get $v)))
              (local.get $shift)))))
        (if (i64.ge_u (local.get $rest) (i64.sub (local.get $b) (local.get $rest)))
          (then
            (local.set $q (i64.add (local.get $q) (i64.const 1)))
            (local.set $upper
              (i64.add (local.get $upper) (i64.extend_i32_u (i64.eqz (local.get $q)))))))
        (if (i64.lt_s
            (i64.xor (i64.load (local.get $at)) (i64.load offset=65536 (local.get $at)))
            (i64.const 0))
          (then
            (local.set $q (i64.sub (i64.const 0) (local.get $q)))
            (local.set $upper (i64.sub
              (i64.xor (local.get $upper) (i64.const -1))
              (i64.extend_i32_u (i64.ne (local.get $q) (i64.const 0)))))
            (local.set $upper (i64.add (local.get $upper) (i64.const 1)))))
        (local.set $wide (i64.or (local.get $wide)
          (i64.xor (local.get $upper) (i64.shr_s (local.get $q) (i64.const 63)))))
        (i64.store (local.get $at) (local.get $q))
        (i64.store offset=131072 (local.get $at) (local.get $upper))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (i64.ne (local.get $wide) (i64.const 0)))

  ;; Remainders have the sign of the left side. 1 for a division by zero.
  (func (export "rem_i64") (param $rows i32) (result i32)
    (local $at i32) (local $end i32) (local $a i64) (local $b i64)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i64.load (local.get $at)))
        (local.set $b (i64.load offset=65536 (local.get $at)))
        (if (i64.eqz (local.get $b)) (then (return (i32.const 1))))
        (if (i64.eqz (i64.shr_u (i64.or (local.get $a) (local.get $b)) (i64.const 32)))
          (then (i64.store (local.get $at) (i64.extend_i32_u
            (i32.rem_u (i32.wrap_i64 (local.get $a)) (i32.wrap_i64 (local.get $b))))))
          (else (i64.store (local.get $at) (i64.rem_s (local.get $a) (local.get $b)))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (i32.const 0))

  ;; Truth values at `to` of left op c, turned round where `flip` is 2: eight rows at a time.
  (func (export "lt_f64") (param $to i32) (param $rows i32) (param $flip i32) (param $c f64)
    (local $at i32) (local $end i32) (local $by v128) (local $turned v128) (local $a v128) (local $b v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $by (f64x2.splat (local.get $c)))
    (local.set $turned (i8x16.splat (local.get $flip)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (f64x2.lt (v128.load (local.get $at)) (local.get $by))
          (f64x2.lt (v128.load offset=16 (local.get $at)) (local.get $by))))
        (local.set $b (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (f64x2.lt (v128.load offset=32 (local.get $at)) (local.get $by))
          (f64x2.lt (v128.load offset=48 (local.get $at)) (local.get $by))))
        (local.set $a (i16x8.narrow_i32x4_s (local.get $a) (local.get $b)))
        (local.set $a (i8x16.narrow_i16x8_s (local.get $a) (local.get $a)))
        (v128.store64_lane 0 (local.get $to) (v128.xor (local.get $turned)
          (v128.and (local.get $a) (i8x16.splat (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))

  (func (export "le_f64") (param $to i32) (param $rows i32) (param $flip i32) (param $c f64)
    (local $at i32) (local $end i32) (local $by v128) (local $turned v128) (local $a v128) (local $b v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $by (f64x2.splat (local.get $c)))
    (local.set $turned (i8x16.splat (local.get $flip)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (f64x2.le (v128.load (local.get $at)) (local.get $by))
          (f64x2.le (v128.load offset=16 (local.get $at)) (local.get $by))))
        (local.set $b (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (f64x2.le (v128.load offset=32 (local.get $at)) (local.get $by))
          (f64x2.le (v128.load offset=48 (local.get $at)) (local.get $by))))
        (local.set $a (i16x8.narrow_i32x4_s (local.get $a) (local.get $b)))
        (local.set $a (i8x16.narrow_i16x8_s (local.get $a) (local.get $a)))
        (v128.store64_lane 0 (local.get $to) (v128.xor (local.get $turned)
          (v128.and (local.get $a) (i8x16.splat (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))

  (func (export "eq_f64") (param $to i32) (param $rows i32) (param $flip i32) (param $c f64)
    (local $at i32) (local $end i32) (local $by v128) (local $turned v128) (local $a v128) (local $b v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $by (f64x2.splat (local.get $c)))
    (local.set $turned (i8x16.splat (local.get $flip)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (f64x2.eq (v128.load (local.get $at)) (local.get $by))
          (f64x2.eq (v128.load offset=16 (local.get $at)) (local.get $by))))
        (local.set $b (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (f64x2.eq (v128.load offset=32 (local.get $at)) (local.get $by))
          (f64x2.eq (v128.load offset=48 (local.get $at)) (local.get $by))))
        (local.set $a (i16x8.narrow_i32x4_s (local.get $a) (local.get $b)))
        (local.set $a (i8x16.narrow_i16x8_s (local.get $a) (local.get $a)))
        (v128.store64_lane 0 (local.get $to) (v128.xor (local.get $turned)
          (v128.and (local.get $a) (i8x16.splat (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))

  (func (export "lt_i64") (param $to i32) (param $rows i32) (param $flip i32) (param $c i64)
    (local $at i32) (local $end i32) (local $by v128) (local $turned v128) (local $a v128) (local $b v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $by (i64x2.splat (local.get $c)))
    (local.set $turned (i8x16.splat (local.get $flip)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (i64x2.lt_s (v128.load (local.get $at)) (local.get $by))
          (i64x2.lt_s (v128.load offset=16 (local.get $at)) (local.get $by))))
        (local.set $b (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (i64x2.lt_s (v128.load offset=32 (local.get $at)) (local.get $by))
          (i64x2.lt_s (v128.load offset=48 (local.get $at)) (local.get $by))))
        (local.set $a (i16x8.narrow_i32x4_s (local.get $a) (local.get $b)))
        (local.set $a (i8x16.narrow_i16x8_s (local.get $a) (local.get $a)))
        (v128.store64_lane 0 (local.get $to) (v128.xor (local.get $turned)
          (v128.and (local.get $a) (i8x16.splat (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))

  (func (export "le_i64") (param $to i32) (param $rows i32) (param $flip i32) (param $c i64)
    (local $at i32) (local $end i32) (local $by v128) (local $turned v128) (local $a v128) (local $b v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $by (i64x2.splat (local.get $c)))
    (local.set $turned (i8x16.splat (local.get $flip)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (i64x2.le_s (v128.load (local.get $at)) (local.get $by))
          (i64x2.le_s (v128.load offset=16 (local.get $at)) (local.get $by))))
        (local.set $b (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (i64x2.le_s (v128.load offset=32 (local.get $at)) (local.get $by))
          (i64x2.le_s (v128.load offset=48 (local.get $at)) (local.get $by))))
        (local.set $a (i16x8.narrow_i32x4_s (local.get $a) (local.get $b)))
        (local.set $a (i8x16.narrow_i16x8_s (local.get $a) (local.get $a)))
        (v128.store64_lane 0 (local.get $to) (v128.xor (local.get $turned)
          (v128.and (local.get $a) (i8x16.splat (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))

  (func (export "eq_i64") (param $to i32) (param $rows i32) (param $flip i32) (param $c i64)
    (local $at i32) (local $end i32) (local $by v128) (local $turned v128) (local $a v128) (local $b v128)
    (local.set $end (i32.shl (local.get $rows) (i32.const 3)))
    (local.set $by (i64x2.splat (local.get $c)))
    (local.set $turned (i8x16.splat (local.get $flip)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (i64x2.eq (v128.load (local.get $at)) (local.get $by))
          (i64x2.eq (v128.load offset=16 (local.get $at)) (local.get $by))))
        (local.set $b (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
          (i64x2.eq (v128.load offset=32 (local.get $at)) (local.get $by))
          (i64x2.eq (v128.load offset=48 (local.get $at)) (local.get $by))))
        (local.set $a (i16x8.narrow_i32x4_s (local.get $a) (local.get $b)))
        (local.set $a (i8x16.narrow_i16x8_s (local.get $a) (local.get $a)))
        (v128.store64_lane 0 (local.get $to) (v128.xor (local.get $turned)
          (v128.and (local.get $a) (i8x16.splat (i32.const 2)))))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))

  ;; The least and the greatest of two truth values each, into the first ones.
  (func (export "min_truth") (param $rows i32)
    (local $at i32) (local $end i32)
    (local.set $end (local.get $rows))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store offset=131072 (local.get $at) (i8x16.min_u
          (v128.load offset=131072 (local.get $at)) (v128.load offset=196608 (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  (func (export "max_truth") (param $rows i32)
    (local $at i32) (local $end i32)
    (local.set $end (local.get $rows))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store offset=131072 (local.get $at) (i8x16.max_u
          (v128.load offset=131072 (local.get $at)) (v128.load offset=196608 (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  ;; How many truth values are `wanted`; the rows are a multiple of sixteen.
  (func (export "count_truth") (param $rows i32) (param $wanted i32) (result i32)
    (local $at i32) (local $count i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $rows)))
        (local.set $count (i32.add (local.get $count) (i32.popcnt (i8x16.bitmask (i8x16.eq
          (v128.load offset=131072 (local.get $at)) (i8x16.splat (local.get $wanted)))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (local.get $count))

  ;; The numbers of the rows that are true, of at most 16,384 in a multiple of sixteen: they are written to
  ;; 0 and counted from $first. Returns how many there are.
  (func (export "true_rows") (param $rows i32) (param $first i32) (result i32)
    (local $at i32) (local $bits i32) (local $to i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $rows)))
        (local.set $bits (i8x16.bitmask (i8x16.eq
          (v128.load offset=131072 (local.get $at)) (i8x16.splat (i32.const 2)))))
        (block $none
          (loop $row
            (br_if $none (i32.eqz (local.get $bits)))
            (i32.store (local.get $to) (i32.add (local.get $first)
              (i32.add (local.get $at) (i32.ctz (local.get $bits)))))
            (local.set $to (i32.add (local.get $to) (i32.const 4)))
            (local.set $bits (i32.and (local.get $bits)
              (i32.sub (local.get $bits) (i32.const 1))))
            (br $row)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (i32.shr_u (local.get $to) (i32.const 2))))
