;; The inner loops of counting rows whose value compares with a constant. Knows only numbers and
;; bytes in its own memory: no types, no nulls. `npm run build:wasm` assembles this file into
;; count.wasm.ts.
;;
;; The memory has 64 KiB for what is compared with, six times 1 MiB for columns, and behind them as
;; much as may be read past their end.
(module
  (memory (export "memory") 98 98)

  ;; How many doubles are at most the limit; NaN is not.
  (func (export "at_most_f64") (param $at i32) (param $rows i32) (param $limit f64) (result i32)
    (local $end i32) (local $last i32) (local $count i32)
    (local $limits v128) (local $a v128) (local $b v128)
    (local.set $limits (f64x2.splat (local.get $limit)))
    (local.set $last (i32.add (local.get $at) (i32.shl (local.get $rows) (i32.const 3))))
    (local.set $end
      (i32.add (local.get $at) (i32.shl (i32.and (local.get $rows) (i32.const -8)) (i32.const 3))))
    (block $whole
      (loop $eight
        (br_if $whole (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i64x2.sub (local.get $a)
          (f64x2.le (v128.load (local.get $at)) (local.get $limits))))
        (local.set $b (i64x2.sub (local.get $b)
          (f64x2.le (v128.load offset=16 (local.get $at)) (local.get $limits))))
        (local.set $a (i64x2.sub (local.get $a)
          (f64x2.le (v128.load offset=32 (local.get $at)) (local.get $limits))))
        (local.set $b (i64x2.sub (local.get $b)
          (f64x2.le (v128.load offset=48 (local.get $at)) (local.get $limits))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $eight)))
    (block $all
      (loop $one
        (br_if $all (i32.ge_u (local.get $at) (local.get $last)))
        (local.set $count (i32.add (local.get $count)
          (f64.le (f64.load (local.get $at)) (local.get $limit))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $one)))
    (local.set $a (i64x2.add (local.get $a) (local.get $b)))
    (i32.add (local.get $count) (i32.wrap_i64 (i64.add
      (i64x2.extract_lane 0 (local.get $a)) (i64x2.extract_lane 1 (local.get $a))))))

  ;; How many 64-bit integers are at most the limit.
  (func (export "at_most_i64") (param $at i32) (param $rows i32) (param $limit i64) (result i32)
    (local $end i32) (local $last i32) (local $count i32)
    (local $limits v128) (local $a v128) (local $b v128)
    (local.set $limits (i64x2.splat (local.get $limit)))
    (local.set $last (i32.add (local.get $at) (i32.shl (local.get $rows) (i32.const 3))))
    (local.set $end
      (i32.add (local.get $at) (i32.shl (i32.and (local.get $rows) (i32.const -8)) (i32.const 3))))
    (block $whole
      (loop $eight
        (br_if $whole (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $a (i64x2.sub (local.get $a)
          (i64x2.le_s (v128.load (local.get $at)) (local.get $limits))))
        (local.set $b (i64x2.sub (local.get $b)
          (i64x2.le_s (v128.load offset=16 (local.get $at)) (local.get $limits))))
        (local.set $a (i64x2.sub (local.get $a)
          (i64x2.le_s (v128.load offset=32 (local.get $at)) (local.get $limits))))
        (local.set $b (i64x2.sub (local.get $b)
          (i64x2.le_s (v128.load offset=48 (local.get $at)) (local.get $limits))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $eight)))
    (block $all
      (loop $one
        (br_if $all (i32.ge_u (local.get $at) (local.get $last)))
        (local.set $count (i32.add (local.get $count)
          (i64.le_s (i64.load (local.get $at)) (local.get $limit))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $one)))
    (local.set $a (i64x2.add (local.get $a) (local.get $b)))
    (i32.add (local.get $count) (i32.wrap_i64 (i64.add
      (i64x2.extract_lane 0 (local.get $a)) (i64x2.extract_lane 1 (local.get $a))))))

  ;; How many texts are the one of `size` bytes at `wanted`, which begins at a multiple of 16 and
  ;; ends in zeros up to the next. Row i has the bytes from offset i to offset i + 1, counted from
  ;; `first`, of the `bytes` bytes at `values`. -1 where a row of that size lies outside of them.
  ;; Three vectors stand at `helpers`: which bytes of a text's last 16 count; where the bytes of each
  ;; of four texts of at most four bytes lie, a lane for each; and four times such a text.
  (func (export "equal_texts")
    (param $offsets i32) (param $rows i32) (param $first i32) (param $values i32) (param $bytes i32)
    (param $wanted i32) (param $size i32) (param $helpers i32) (result i32)
    (local $end i32) (local $last i32) (local $count i32) (local $row i32) (local $k i32)
    (local $tail i32) (local $four i32) (local $at i32)
    (local $starts v128) (local $same v128) (local $sizes v128) (local $sum v128)
    (local $mask v128) (local $spread v128) (local $key v128) (local $end16 v128)
    (if (i32.lt_u (local.get $bytes) (local.get $size)) (then (return (i32.const 0))))
    (local.set $mask (v128.load (local.get $helpers)))
    (local.set $spread (v128.load offset=16 (local.get $helpers)))
    (local.set $key (v128.load offset=32 (local.get $helpers)))
    (local.set $sizes (i32x4.splat (local.get $size)))
    ;; Where a text's last 16 bytes begin.
    (if (i32.gt_u (local.get $size) (i32.const 16))
      (then (local.set $tail (i32.sub (local.get $size) (i32.const 16)))))
    (local.set $end16 (v128.load (i32.add (local.get $wanted) (local.get $tail))))
    ;; Four short texts of this size lie in one vector, if they begin at most here.
    (local.set $four (i32.sub (local.get $bytes) (i32.shl (local.get $size) (i32.const 2))))
    (if (i32.or (i32.gt_u (local.get $size) (i32.const 4)) (i32.lt_s (local.get $four) (i32.const 0)))
      (then (local.set $four (i32.const -1))))
    (local.set $last (i32.add (local.get $offsets) (i32.shl (local.get $rows) (i32.const 2))))
    (block $all
      (loop $group
        (br_if $all (i32.ge_u (local.get $offsets) (local.get $last)))
        (local.set $starts (v128.load (local.get $offsets)))
        (local.set $same (i32x4.eq (local.get $sizes)
          (i32x4.sub (v128.load offset=4 (local.get $offsets)) (local.get $starts))))
        (local.set $end (i32.add (local.get $offsets) (i32.const 16)))
        (block $counted
          (br_if $counted (i32.eqz (v128.any_true (local.get $same))))
          (if (i32.and
                (i32.and (i32x4.all_true (local.get $same)) (i32.ge_s (local.get $four) (i32.const 0)))
                (i32.le_u (local.get $end) (local.get $last)))
            (then
              (local.set $at (i32.sub (i32x4.extract_lane 0 (local.get $starts)) (local.get $first)))
              (if (i32.gt_u (local.get $at) (local.get $four)) (then (return (i32.const -1))))
              (local.set $sum (i32x4.sub (local.get $sum) (i32x4.eq (local.get $key)
                (i8x16.swizzle (v128.load (i32.add (local.get $values) (local.get $at)))
                  (local.get $spread)))))
              (br $counted)))
          (if (i32.gt_u (local.get $end) (local.get $last))
            (then (local.set $end (local.get $last))))
          (local.set $row (local.get $offsets))
          (loop $one
            (block $other
              (br_if $other (i32.ne (local.get $size)
                (i32.sub (i32.load offset=4 (local.get $row)) (i32.load (local.get $row)))))
              (local.set $at (i32.sub (i32.load (local.get $row)) (local.get $first)))
              (if (i32.gt_u (local.get $at) (i32.sub (local.get $bytes) (local.get $size)))
                (then (return (i32.const -1))))
              (local.set $at (i32.add (local.get $values) (local.get $at)))
              (br_if $other (v128.any_true (v128.and (local.get $mask) (v128.xor (local.get $end16)
                (v128.load (i32.add (local.get $at) (local.get $tail)))))))
              (local.set $k (i32.const 0))
              (block $equal
                (loop $before
                  (br_if $equal (i32.ge_u (local.get $k) (local.get $tail)))
                  (br_if $other (v128.any_true (v128.xor
                    (v128.load (i32.add (local.get $at) (local.get $k)))
                    (v128.load (i32.add (local.get $wanted) (local.get $k))))))
                  (local.set $k (i32.add (local.get $k) (i32.const 16)))
                  (br $before)))
              (local.set $count (i32.add (local.get $count) (i32.const 1))))
            (local.set $row (i32.add (local.get $row) (i32.const 4)))
            (br_if $one (i32.lt_u (local.get $row) (local.get $end)))))
        (local.set $offsets (i32.add (local.get $offsets) (i32.const 16)))
        (br $group)))
    (i32.add (local.get $count) (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum))))))
)
