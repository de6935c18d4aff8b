;; The inner loops of exact vector search. Knows only rows of numbers in its own memory: no types,
;; no nulls, no ranking. `npm run build:wasm` assembles this file into kernels.wasm.ts.
;;
;; Every sum kernel takes the address of rows that lie `stride` bytes apart, how many there are,
;; the address of the query and the address for one f64 sum per row. A stride is a positive
;; multiple of 32 (rows and query end in zeros up to there), and rows are taken four at a time:
;; four independent chains of additions hide the latency of one, and each query element that is
;; loaded serves four rows. The four are a quarter of the rows apart, so that memory is read in four
;; runs that each go straight on: neighbours taken together would be read in small jumps, which are
;; fetched ahead less well. Up to three rows past the last are read, and their sums written.
;;
;; The order of additions is part of the contract, because the plain kernels repeat it bit by bit:
;; 32 bytes are two vectors, each with its own accumulator, so that an f32 row is summed in eight
;; lanes and an f64 row in four; lane j takes the elements j, j + lanes, j + 2 * lanes ...
;; At the end the two accumulators are added, then the upper half of that to its lower half, then
;; the second lane to the first. No fused multiply-add: it would round differently. Sums of bytes
;; are integers, so that their order does not matter; a lane of 32 bits holds those of 2^18 bytes.
(module
  (memory (export "memory") 1)

  ;; Squared differences of f32.
  (func (export "squares_f32")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $y v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $b0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $b1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $b2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $b3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $y (v128.load offset=16 (local.get $q)))
        (local.set $d (f32x4.sub (v128.load (local.get $p0)) (local.get $x)))
        (local.set $a0 (f32x4.add (local.get $a0) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load offset=16 (local.get $p0)) (local.get $y)))
        (local.set $b0 (f32x4.add (local.get $b0) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load (local.get $p1)) (local.get $x)))
        (local.set $a1 (f32x4.add (local.get $a1) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load offset=16 (local.get $p1)) (local.get $y)))
        (local.set $b1 (f32x4.add (local.get $b1) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load (local.get $p2)) (local.get $x)))
        (local.set $a2 (f32x4.add (local.get $a2) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load offset=16 (local.get $p2)) (local.get $y)))
        (local.set $b2 (f32x4.add (local.get $b2) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load (local.get $p3)) (local.get $x)))
        (local.set $a3 (f32x4.add (local.get $a3) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $d (f32x4.sub (v128.load offset=16 (local.get $p3)) (local.get $y)))
        (local.set $b3 (f32x4.add (local.get $b3) (f32x4.mul (local.get $d) (local.get $d))))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (local.set $a0 (f32x4.add (local.get $a0) (local.get $b0)))
      (local.set $a1 (f32x4.add (local.get $a1) (local.get $b1)))
      (local.set $a2 (f32x4.add (local.get $a2) (local.get $b2)))
      (local.set $a3 (f32x4.add (local.get $a3) (local.get $b3)))
      (call $store_f32 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Products of f32.
  (func (export "products_f32")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $y v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $b0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $b1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $b2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $b3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $y (v128.load offset=16 (local.get $q)))
        (local.set $d (f32x4.mul (v128.load (local.get $p0)) (local.get $x)))
        (local.set $a0 (f32x4.add (local.get $a0) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load offset=16 (local.get $p0)) (local.get $y)))
        (local.set $b0 (f32x4.add (local.get $b0) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load (local.get $p1)) (local.get $x)))
        (local.set $a1 (f32x4.add (local.get $a1) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load offset=16 (local.get $p1)) (local.get $y)))
        (local.set $b1 (f32x4.add (local.get $b1) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load (local.get $p2)) (local.get $x)))
        (local.set $a2 (f32x4.add (local.get $a2) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load offset=16 (local.get $p2)) (local.get $y)))
        (local.set $b2 (f32x4.add (local.get $b2) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load (local.get $p3)) (local.get $x)))
        (local.set $a3 (f32x4.add (local.get $a3) (local.get $d)))
        (local.set $d (f32x4.mul (v128.load offset=16 (local.get $p3)) (local.get $y)))
        (local.set $b3 (f32x4.add (local.get $b3) (local.get $d)))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (local.set $a0 (f32x4.add (local.get $a0) (local.get $b0)))
      (local.set $a1 (f32x4.add (local.get $a1) (local.get $b1)))
      (local.set $a2 (f32x4.add (local.get $a2) (local.get $b2)))
      (local.set $a3 (f32x4.add (local.get $a3) (local.get $b3)))
      (call $store_f32 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Squared differences of f64.
  (func (export "squares_f64")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $y v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $b0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $b1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $b2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $b3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $y (v128.load offset=16 (local.get $q)))
        (local.set $d (f64x2.sub (v128.load (local.get $p0)) (local.get $x)))
        (local.set $a0 (f64x2.add (local.get $a0) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load offset=16 (local.get $p0)) (local.get $y)))
        (local.set $b0 (f64x2.add (local.get $b0) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load (local.get $p1)) (local.get $x)))
        (local.set $a1 (f64x2.add (local.get $a1) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load offset=16 (local.get $p1)) (local.get $y)))
        (local.set $b1 (f64x2.add (local.get $b1) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load (local.get $p2)) (local.get $x)))
        (local.set $a2 (f64x2.add (local.get $a2) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load offset=16 (local.get $p2)) (local.get $y)))
        (local.set $b2 (f64x2.add (local.get $b2) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load (local.get $p3)) (local.get $x)))
        (local.set $a3 (f64x2.add (local.get $a3) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $d (f64x2.sub (v128.load offset=16 (local.get $p3)) (local.get $y)))
        (local.set $b3 (f64x2.add (local.get $b3) (f64x2.mul (local.get $d) (local.get $d))))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (local.set $a0 (f64x2.add (local.get $a0) (local.get $b0)))
      (local.set $a1 (f64x2.add (local.get $a1) (local.get $b1)))
      (local.set $a2 (f64x2.add (local.get $a2) (local.get $b2)))
      (local.set $a3 (f64x2.add (local.get $a3) (local.get $b3)))
      (call $store_f64 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Products of f64.
  (func (export "products_f64")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $y v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $b0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $b1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $b2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $b3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $y (v128.load offset=16 (local.get $q)))
        (local.set $d (f64x2.mul (v128.load (local.get $p0)) (local.get $x)))
        (local.set $a0 (f64x2.add (local.get $a0) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load offset=16 (local.get $p0)) (local.get $y)))
        (local.set $b0 (f64x2.add (local.get $b0) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load (local.get $p1)) (local.get $x)))
        (local.set $a1 (f64x2.add (local.get $a1) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load offset=16 (local.get $p1)) (local.get $y)))
        (local.set $b1 (f64x2.add (local.get $b1) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load (local.get $p2)) (local.get $x)))
        (local.set $a2 (f64x2.add (local.get $a2) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load offset=16 (local.get $p2)) (local.get $y)))
        (local.set $b2 (f64x2.add (local.get $b2) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load (local.get $p3)) (local.get $x)))
        (local.set $a3 (f64x2.add (local.get $a3) (local.get $d)))
        (local.set $d (f64x2.mul (v128.load offset=16 (local.get $p3)) (local.get $y)))
        (local.set $b3 (f64x2.add (local.get $b3) (local.get $d)))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (local.set $a0 (f64x2.add (local.get $a0) (local.get $b0)))
      (local.set $a1 (f64x2.add (local.get $a1) (local.get $b1)))
      (local.set $a2 (f64x2.add (local.get $a2) (local.get $b2)))
      (local.set $a3 (f64x2.add (local.get $a3) (local.get $b3)))
      (call $store_f64 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Squared differences of bytes. Of the two saturating differences one is zero, the other what is
  ;; sought.
  (func (export "squares_u8")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $d (v128.load (local.get $p0)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $d (v128.load (local.get $p1)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $d (v128.load (local.get $p2)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $d (v128.load (local.get $p3)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $x (v128.load offset=16 (local.get $q)))
        (local.set $d (v128.load offset=16 (local.get $p0)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $d (v128.load offset=16 (local.get $p1)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $d (v128.load offset=16 (local.get $p2)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $d (v128.load offset=16 (local.get $p3)))
        (local.set $d (v128.or
          (i8x16.sub_sat_u (local.get $d) (local.get $x))
          (i8x16.sub_sat_u (local.get $x) (local.get $d))))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $d)))))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (call $store_u32 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Products of bytes.
  (func (export "products_u8")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $d (v128.load (local.get $p0)))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $d (v128.load (local.get $p1)))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $d (v128.load (local.get $p2)))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $d (v128.load (local.get $p3)))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $x (v128.load offset=16 (local.get $q)))
        (local.set $d (v128.load offset=16 (local.get $p0)))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a0 (i32x4.add (local.get $a0) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $d (v128.load offset=16 (local.get $p1)))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a1 (i32x4.add (local.get $a1) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $d (v128.load offset=16 (local.get $p2)))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a2 (i32x4.add (local.get $a2) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $d (v128.load offset=16 (local.get $p3)))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_low_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $a3 (i32x4.add (local.get $a3) (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extmul_high_i8x16_u (local.get $d) (local.get $x)))))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (call $store_u32 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Bits that differ.
  (func (export "bits_u8")
    (param $rows i32) (param $stride i32) (param $count i32) (param $query i32) (param $sums i32)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $q i32) (local $end i32)
    (local $far i32) (local $apart i32)
    (local $x v128) (local $d v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local.set $end (i32.add (local.get $query) (local.get $stride)))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 3)) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count) (local.get $stride)))
    (local.set $apart (i32.shl (local.get $count) (i32.const 3)))
    (loop $group
      (local.set $p0 (local.get $rows))
      (local.set $p1 (i32.add (local.get $p0) (local.get $far)))
      (local.set $p2 (i32.add (local.get $p1) (local.get $far)))
      (local.set $p3 (i32.add (local.get $p2) (local.get $far)))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $d (v128.xor (v128.load (local.get $p0)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a0 (i32x4.add (local.get $a0)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $d (v128.xor (v128.load (local.get $p1)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a1 (i32x4.add (local.get $a1)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $d (v128.xor (v128.load (local.get $p2)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a2 (i32x4.add (local.get $a2)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $d (v128.xor (v128.load (local.get $p3)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a3 (i32x4.add (local.get $a3)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $x (v128.load offset=16 (local.get $q)))
        (local.set $d (v128.xor (v128.load offset=16 (local.get $p0)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a0 (i32x4.add (local.get $a0)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $d (v128.xor (v128.load offset=16 (local.get $p1)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a1 (i32x4.add (local.get $a1)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $d (v128.xor (v128.load offset=16 (local.get $p2)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a2 (i32x4.add (local.get $a2)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $d (v128.xor (v128.load offset=16 (local.get $p3)) (local.get $x)))
        (local.set $d (i8x16.popcnt (local.get $d)))
        (local.set $a3 (i32x4.add (local.get $a3)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $d)))))
        (local.set $p0 (i32.add (local.get $p0) (i32.const 32)))
        (local.set $p1 (i32.add (local.get $p1) (i32.const 32)))
        (local.set $p2 (i32.add (local.get $p2) (i32.const 32)))
        (local.set $p3 (i32.add (local.get $p3) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (call $store_u32 (local.get $sums) (local.get $apart)
        (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))
      (local.set $sums (i32.add (local.get $sums) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $group (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; The last additions of four rows at once: their lanes are transposed on the way.
  (func $across_f32 (param $a0 v128) (param $a1 v128) (param $a2 v128) (param $a3 v128)
    (result v128)
    (local $x v128) (local $y v128)
    (local.set $x (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
        (local.get $a0) (local.get $a1))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
        (local.get $a0) (local.get $a1))))
    (local.set $y (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
        (local.get $a2) (local.get $a3))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
        (local.get $a2) (local.get $a3))))
    (f32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
        (local.get $x) (local.get $y))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
        (local.get $x) (local.get $y))))

  (func $store_f32 (param $sums i32) (param $apart i32)
    (param $a0 v128) (param $a1 v128) (param $a2 v128) (param $a3 v128)
    (local $d v128)
    (local.set $d (call $across_f32
      (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3)))
    (call $store_apart (local.get $sums) (local.get $apart)
      (f64x2.promote_low_f32x4 (local.get $d))
      (f64x2.promote_low_f32x4
        (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
          (local.get $d) (local.get $d)))))

  ;; The same for two lanes of f64.
  (func $store_f64 (param $sums i32) (param $apart i32)
    (param $a0 v128) (param $a1 v128) (param $a2 v128) (param $a3 v128)
    (call $store_apart (local.get $sums) (local.get $apart)
      (f64x2.add
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
          (local.get $a0) (local.get $a1))
        (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
          (local.get $a0) (local.get $a1)))
      (f64x2.add
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
          (local.get $a2) (local.get $a3))
        (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
          (local.get $a2) (local.get $a3)))))

  ;; Four sums, two from each, so many bytes from one to the next.
  (func $store_apart (param $sums i32) (param $apart i32) (param $x v128) (param $y v128)
    (v128.store64_lane 0 (local.get $sums) (local.get $x))
    (local.set $sums (i32.add (local.get $sums) (local.get $apart)))
    (v128.store64_lane 1 (local.get $sums) (local.get $x))
    (local.set $sums (i32.add (local.get $sums) (local.get $apart)))
    (v128.store64_lane 0 (local.get $sums) (local.get $y))
    (local.set $sums (i32.add (local.get $sums) (local.get $apart)))
    (v128.store64_lane 1 (local.get $sums) (local.get $y)))

  ;; Lanes of u32 are widened first, so that no sum wraps.
  (func $store_u32 (param $sums i32) (param $apart i32)
    (param $a0 v128) (param $a1 v128) (param $a2 v128) (param $a3 v128)
    (local.set $a0 (f64x2.add
      (f64x2.convert_low_i32x4_u (local.get $a0))
      (f64x2.convert_low_i32x4_u (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
        (local.get $a0) (local.get $a0)))))
    (local.set $a1 (f64x2.add
      (f64x2.convert_low_i32x4_u (local.get $a1))
      (f64x2.convert_low_i32x4_u (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
        (local.get $a1) (local.get $a1)))))
    (local.set $a2 (f64x2.add
      (f64x2.convert_low_i32x4_u (local.get $a2))
      (f64x2.convert_low_i32x4_u (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
        (local.get $a2) (local.get $a2)))))
    (local.set $a3 (f64x2.add
      (f64x2.convert_low_i32x4_u (local.get $a3))
      (f64x2.convert_low_i32x4_u (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
        (local.get $a3) (local.get $a3)))))
    (call $store_f64 (local.get $sums) (local.get $apart)
      (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3)))

  ;; Halves become floats, four at a time, up to three past the last. A half's exponent and
  ;; fraction, moved into place, lack 112 in the exponent, or 224 where it is infinite or not a
  ;; number. A subnormal half has no leading one: it is given one in an exponent where that is worth
  ;; 2^-14, which is then taken away. No step meets a subnormal float, whose arithmetic is slow.
  (func (export "widen")
    (param $from i32) (param $to i32) (param $count i32)
    (local $bits v128) (local $size v128) (local $f v128)
    (loop $four
      (local.set $bits (v128.load16x4_u (local.get $from)))
      (local.set $size (v128.and (local.get $bits) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff)))
      (local.set $f (i32x4.add
        (i32x4.shl (local.get $size) (i32.const 13))
        (v128.const i32x4 0x38000000 0x38000000 0x38000000 0x38000000)))
      (local.set $f (i32x4.add (local.get $f)
        (v128.and
          (i32x4.gt_s (local.get $size) (v128.const i32x4 0x7bff 0x7bff 0x7bff 0x7bff))
          (v128.const i32x4 0x38000000 0x38000000 0x38000000 0x38000000))))
      (local.set $f (v128.bitselect
        (f32x4.sub
          (i32x4.add (local.get $f) (v128.const i32x4 0x800000 0x800000 0x800000 0x800000))
          (v128.const f32x4 0x1p-14 0x1p-14 0x1p-14 0x1p-14))
        (local.get $f)
        (i32x4.lt_s (local.get $size) (v128.const i32x4 0x400 0x400 0x400 0x400))))
      (v128.store (local.get $to)
        (v128.or (local.get $f)
          (i32x4.shl (v128.and (local.get $bits) (v128.const i32x4 0x8000 0x8000 0x8000 0x8000))
            (i32.const 16))))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (local.set $count (i32.sub (local.get $count) (i32.const 4)))
      (br_if $four (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Rows that lie `length` bytes apart are laid `stride` bytes apart, with zeros between, where the
  ;; stride is `length` rounded up to 32. The 32 bytes at `mask` are all ones, then zeros, as the
  ;; last piece of a row has bytes of its own, then not.
  (func (export "spread")
    (param $from i32) (param $length i32) (param $to i32) (param $stride i32) (param $count i32)
    (param $mask i32)
    (local $p i32) (local $last i32)
    (loop $row
      (local.set $p (local.get $from))
      (local.set $last (i32.add (local.get $to) (i32.sub (local.get $stride) (i32.const 32))))
      (block $full
        (loop $chunk
          (br_if $full (i32.ge_u (local.get $to) (local.get $last)))
          (v128.store (local.get $to) (v128.load (local.get $p)))
          (v128.store offset=16 (local.get $to) (v128.load offset=16 (local.get $p)))
          (local.set $p (i32.add (local.get $p) (i32.const 32)))
          (local.set $to (i32.add (local.get $to) (i32.const 32)))
          (br $chunk)))
      (v128.store (local.get $to)
        (v128.and (v128.load (local.get $p)) (v128.load (local.get $mask))))
      (v128.store offset=16 (local.get $to)
        (v128.and (v128.load offset=16 (local.get $p)) (v128.load offset=16 (local.get $mask))))
      (local.set $to (i32.add (local.get $to) (i32.const 32)))
      (local.set $from (i32.add (local.get $from) (local.get $length)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $row (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Rows of f32 become codes of eight bits: the nearest whole number to (element - centre) / step,
  ;; where the step is the row's own, such that the largest code is 127. Rows go by fours: a group of
  ;; `group` bytes has eight codes of each row in turn, then the next eight. For each row `facts` takes
  ;; four f32: the step, NaN where the row is not finite or beyond 1e15; the sum of squares of what
  ;; the codes leave over; that of the codes; that of the row's own elements.
  (func (export "quantise")
    (param $rows i32) (param $stride i32) (param $count i32) (param $centre i32)
    (param $codes i32) (param $group i32) (param $facts i32)
    (local $p i32) (local $m i32) (local $to i32) (local $end i32) (local $lane i32)
    (local $x v128) (local $y v128) (local $i v128) (local $j v128)
    (local $largest v128) (local $step v128) (local $inverse v128)
    (local $norm v128) (local $left v128) (local $squares v128)
    (loop $row
      (local.set $end (i32.add (local.get $rows) (local.get $stride)))
      (local.set $largest (v128.const f32x4 0 0 0 0))
      (local.set $norm (v128.const f32x4 0 0 0 0))
      (local.set $p (local.get $rows))
      (local.set $m (local.get $centre))
      (loop $chunk
        (local.set $x (v128.load (local.get $p)))
        (local.set $y (v128.load offset=16 (local.get $p)))
        (local.set $norm (f32x4.add (local.get $norm) (f32x4.add
          (f32x4.mul (local.get $x) (local.get $x))
          (f32x4.mul (local.get $y) (local.get $y)))))
        (local.set $largest (f32x4.max (local.get $largest) (f32x4.max
          (f32x4.abs (f32x4.sub (local.get $x) (v128.load (local.get $m))))
          (f32x4.abs (f32x4.sub (local.get $y) (v128.load offset=16 (local.get $m)))))))
        (local.set $p (i32.add (local.get $p) (i32.const 32)))
        (local.set $m (i32.add (local.get $m) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $p) (local.get $end))))
      (local.set $largest (f32x4.max (local.get $largest)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
          (local.get $largest) (local.get $largest))))
      (local.set $largest (f32x4.max (local.get $largest)
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11
          (local.get $largest) (local.get $largest))))
      (local.set $step (v128.bitselect
        (f32x4.max
          (f32x4.div (local.get $largest) (v128.const f32x4 127 127 127 127))
          (v128.const f32x4 1e-18 1e-18 1e-18 1e-18))
        (v128.const f32x4 nan nan nan nan)
        (f32x4.le (local.get $largest) (v128.const f32x4 1e15 1e15 1e15 1e15))))
      (local.set $inverse (f32x4.div (v128.const f32x4 1 1 1 1) (local.get $step)))
      (local.set $left (v128.const f32x4 0 0 0 0))
      (local.set $squares (v128.const i32x4 0 0 0 0))
      (local.set $p (local.get $rows))
      (local.set $m (local.get $centre))
      (local.set $to (i32.add (local.get $codes) (i32.shl (local.get $lane) (i32.const 3))))
      (loop $chunk
        (local.set $x (f32x4.sub (v128.load (local.get $p)) (v128.load (local.get $m))))
        (local.set $y (f32x4.sub
          (v128.load offset=16 (local.get $p)) (v128.load offset=16 (local.get $m))))
        (local.set $i (i32x4.trunc_sat_f32x4_s
          (f32x4.nearest (f32x4.mul (local.get $x) (local.get $inverse)))))
        (local.set $j (i32x4.trunc_sat_f32x4_s
          (f32x4.nearest (f32x4.mul (local.get $y) (local.get $inverse)))))
        (local.set $x (f32x4.sub (local.get $x)
          (f32x4.mul (local.get $step) (f32x4.convert_i32x4_s (local.get $i)))))
        (local.set $y (f32x4.sub (local.get $y)
          (f32x4.mul (local.get $step) (f32x4.convert_i32x4_s (local.get $j)))))
        (local.set $left (f32x4.add (local.get $left) (f32x4.add
          (f32x4.mul (local.get $x) (local.get $x))
          (f32x4.mul (local.get $y) (local.get $y)))))
        (local.set $i (i16x8.narrow_i32x4_s (local.get $i) (local.get $j)))
        (local.set $squares (i32x4.add (local.get $squares)
          (i32x4.dot_i16x8_s (local.get $i) (local.get $i))))
        (v128.store64_lane 0 (local.get $to)
          (i8x16.narrow_i16x8_s (local.get $i) (local.get $i)))
        (local.set $to (i32.add (local.get $to) (i32.const 32)))
        (local.set $p (i32.add (local.get $p) (i32.const 32)))
        (local.set $m (i32.add (local.get $m) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $p) (local.get $end))))
      (v128.store (local.get $facts) (call $across_f32
        (v128.and (local.get $step) (v128.const i32x4 -1 0 0 0))
        (local.get $left)
        (f32x4.convert_i32x4_s (local.get $squares))
        (local.get $norm)))
      (local.set $facts (i32.add (local.get $facts) (i32.const 16)))
      (local.set $rows (local.get $end))
      (local.set $lane (i32.and (i32.add (local.get $lane) (i32.const 1)) (i32.const 3)))
      (if (i32.eqz (local.get $lane))
        (then (local.set $codes (i32.add (local.get $codes) (local.get $group)))))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $row (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; Writes to `found` the numbers, counted from `row` on, of the rows for which
  ;;   slope * step * (codes . query) + reach * left - weight * size < least
  ;; is not true, in no order, and returns how many they are. Each of the `count` groups begins with
  ;; vectors of four steps, four lefts, and at `sizes` bytes four sizes; the codes follow after 64
  ;; bytes. The query, up to `end`, is of whole numbers of 16 bits, no sum of whose products with
  ;; codes leaves 32 bits. Two groups are taken together, half of all apart, for the same reasons as
  ;; four rows are elsewhere; of an odd number one past the last is read, and may be found.
  (func (export "sift")
    (param $group i32) (param $count i32) (param $sizes i32) (param $query i32) (param $end i32)
    (param $slope f32) (param $reach f32) (param $weight f32) (param $least f32)
    (param $row i32) (param $found i32) (result i32)
    (local $p i32) (local $r i32) (local $q i32) (local $first i32) (local $mask i32)
    (local $half i32) (local $far i32) (local $g i32) (local $n i32)
    (local $x v128) (local $y v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $first (local.get $found))
    (local.set $count (i32.shr_u (i32.add (local.get $count) (i32.const 1)) (i32.const 1)))
    (local.set $half (i32.shl (local.get $count) (i32.const 2)))
    (local.set $far (i32.mul (local.get $count)
      (i32.add (i32.const 64)
        (i32.shl (i32.sub (local.get $end) (local.get $query)) (i32.const 1)))))
    (loop $four
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $b0 (v128.const i32x4 0 0 0 0))
      (local.set $b1 (v128.const i32x4 0 0 0 0))
      (local.set $b2 (v128.const i32x4 0 0 0 0))
      (local.set $b3 (v128.const i32x4 0 0 0 0))
      (local.set $p (i32.add (local.get $group) (i32.const 64)))
      (local.set $r (i32.add (local.get $p) (local.get $far)))
      (local.set $q (local.get $query))
      (loop $chunk
        (local.set $x (v128.load (local.get $q)))
        (local.set $a0 (i32x4.add (local.get $a0)
          (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $p)) (local.get $x))))
        (local.set $a1 (i32x4.add (local.get $a1)
          (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $p)) (local.get $x))))
        (local.set $a2 (i32x4.add (local.get $a2)
          (i32x4.dot_i16x8_s (v128.load8x8_s offset=16 (local.get $p)) (local.get $x))))
        (local.set $a3 (i32x4.add (local.get $a3)
          (i32x4.dot_i16x8_s (v128.load8x8_s offset=24 (local.get $p)) (local.get $x))))
        (local.set $b0 (i32x4.add (local.get $b0)
          (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $r)) (local.get $x))))
        (local.set $b1 (i32x4.add (local.get $b1)
          (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $r)) (local.get $x))))
        (local.set $b2 (i32x4.add (local.get $b2)
          (i32x4.dot_i16x8_s (v128.load8x8_s offset=16 (local.get $r)) (local.get $x))))
        (local.set $b3 (i32x4.add (local.get $b3)
          (i32x4.dot_i16x8_s (v128.load8x8_s offset=24 (local.get $r)) (local.get $x))))
        (local.set $p (i32.add (local.get $p) (i32.const 32)))
        (local.set $r (i32.add (local.get $r) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 16)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (local.set $g (local.get $group))
      (local.set $n (local.get $row))
      (loop $turn
        (local.set $x (i32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
            (local.get $a0) (local.get $a1))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
            (local.get $a0) (local.get $a1))))
        (local.set $y (i32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
            (local.get $a2) (local.get $a3))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
            (local.get $a2) (local.get $a3))))
        (local.set $x (f32x4.convert_i32x4_s (i32x4.add
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (local.get $x) (local.get $y))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
            (local.get $x) (local.get $y)))))
        (local.set $x (f32x4.mul (local.get $x)
          (f32x4.mul (v128.load (local.get $g)) (f32x4.splat (local.get $slope)))))
        (local.set $x (f32x4.add (local.get $x)
          (f32x4.mul (v128.load offset=16 (local.get $g)) (f32x4.splat (local.get $reach)))))
        (local.set $x (f32x4.sub (local.get $x)
          (f32x4.mul
            (v128.load (i32.add (local.get $g) (local.get $sizes)))
            (f32x4.splat (local.get $weight)))))
        (local.set $mask (i32.xor (i32.const 15) (i32x4.bitmask
          (f32x4.lt (local.get $x) (f32x4.splat (local.get $least))))))
        (block $done
          (loop $row_found
            (br_if $done (i32.eqz (local.get $mask)))
            (i32.store (local.get $found)
              (i32.add (local.get $n) (i32.ctz (local.get $mask))))
            (local.set $found (i32.add (local.get $found) (i32.const 4)))
            (local.set $mask (i32.and (local.get $mask)
              (i32.sub (local.get $mask) (i32.const 1))))
            (br $row_found)))
        (if (i32.eq (local.get $g) (local.get $group))
          (then
            (local.set $g (i32.add (local.get $group) (local.get $far)))
            (local.set $n (i32.add (local.get $row) (local.get $half)))
            (local.set $a0 (local.get $b0))
            (local.set $a1 (local.get $b1))
            (local.set $a2 (local.get $b2))
            (local.set $a3 (local.get $b3))
            (br $turn))))
      (local.set $row (i32.add (local.get $row) (i32.const 4)))
      (local.set $group (local.get $p))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $four (i32.gt_s (local.get $count) (i32.const 0))))
    (i32.shr_u (i32.sub (local.get $found) (local.get $first)) (i32.const 2)))

  ;; The kernels of partitioned vectors follow (ivf/layout.ts): rows of f32 are turned about, given
  ;; to the nearest of some centroids, estimated by one bit for each element, and by a byte.

  ;; Turns rows of f32 about the origin, in place, in four rounds. Each multiplies the elements by
  ;; those of the next `stride` bytes at `signs`, then adds and subtracts them in pairs at distances
  ;; of 1, 2, 4 and so on within `span` bytes of the row, a power of two and at least 16: from its
  ;; beginning in the first and third round, and up to its end in the others.
  (func (export "rotate")
    (param $rows i32) (param $stride i32) (param $count i32) (param $signs i32) (param $span i32)
    (local $round i32) (local $p i32) (local $s i32) (local $from i32) (local $end i32)
    (local $h i32) (local $j i32) (local $to i32)
    (local $x v128) (local $y v128)
    (loop $row
      (local.set $s (local.get $signs))
      (local.set $round (i32.const 0))
      (loop $rounds
        (local.set $p (local.get $rows))
        (local.set $end (i32.add (local.get $rows) (local.get $stride)))
        (loop $sign
          (v128.store (local.get $p)
            (f32x4.mul (v128.load (local.get $p)) (v128.load (local.get $s))))
          (local.set $p (i32.add (local.get $p) (i32.const 16)))
          (local.set $s (i32.add (local.get $s) (i32.const 16)))
          (br_if $sign (i32.lt_u (local.get $p) (local.get $end))))
        (local.set $from (select
          (i32.sub (local.get $end) (local.get $span))
          (local.get $rows)
          (i32.and (local.get $round) (i32.const 1))))
        (local.set $end (i32.add (local.get $from) (local.get $span)))
        (local.set $p (local.get $from))
        (loop $near
          (local.set $x (v128.load (local.get $p)))
          (local.set $x (f32x4.add
            (f32x4.mul (local.get $x) (v128.const f32x4 1 -1 1 -1))
            (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $x) (local.get $x))))
          (v128.store (local.get $p) (f32x4.add
            (f32x4.mul (local.get $x) (v128.const f32x4 1 1 -1 -1))
            (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $x) (local.get $x))))
          (local.set $p (i32.add (local.get $p) (i32.const 16)))
          (br_if $near (i32.lt_u (local.get $p) (local.get $end))))
        (local.set $h (i32.const 16))
        (block $done
          (loop $far
            (br_if $done (i32.ge_u (local.get $h) (local.get $span)))
            (local.set $p (local.get $from))
            (loop $pair
              (local.set $j (local.get $p))
              (local.set $to (i32.add (local.get $p) (local.get $h)))
              (local.set $p (local.get $to))
              (loop $four
                (local.set $x (v128.load (local.get $j)))
                (local.set $y (v128.load (local.get $p)))
                (v128.store (local.get $j) (f32x4.add (local.get $x) (local.get $y)))
                (v128.store (local.get $p) (f32x4.sub (local.get $x) (local.get $y)))
                (local.set $j (i32.add (local.get $j) (i32.const 16)))
                (local.set $p (i32.add (local.get $p) (i32.const 16)))
                (br_if $four (i32.lt_u (local.get $j) (local.get $to))))
              (br_if $pair (i32.lt_u (local.get $p) (local.get $end))))
            (local.set $h (i32.shl (local.get $h) (i32.const 1)))
            (br $far)))
        (local.set $round (i32.add (local.get $round) (i32.const 1)))
        (br_if $rounds (i32.lt_u (local.get $round) (i32.const 4))))
      (local.set $rows (i32.add (local.get $rows) (local.get $stride)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $row (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; For each row of whole numbers of 16 bits, the number of the centroid whose half square less its
  ;; product with the row is least, the first of several that are. The `halves` have four bytes for
  ;; each centroid. Rows are taken by twos and centroids by fours; one row past the last is read and
  ;; given a number.
  (func (export "assign")
    (param $rows i32) (param $stride i32) (param $count i32) (param $centroids i32)
    (param $halves i32) (param $centroidCount i32) (param $found i32)
    (local $p i32) (local $r i32) (local $end i32) (local $c0 i32) (local $c1 i32) (local $c2 i32)
    (local $c3 i32) (local $c i32)
    (local $x v128) (local $y v128) (local $m v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local $number v128) (local $least v128) (local $at v128) (local $less v128)
    (local $otherLeast v128) (local $otherAt v128)
    (loop $two
      (local.set $least (v128.const i32x4 0x7fffffff 0x7fffffff 0x7fffffff 0x7fffffff))
      (local.set $otherLeast (local.get $least))
      (local.set $at (v128.const i32x4 0 0 0 0))
      (local.set $otherAt (local.get $at))
      (local.set $number (v128.const i32x4 0 1 2 3))
      (local.set $c0 (local.get $centroids))
      (local.set $c (i32.const 0))
      (loop $four
        (local.set $c1 (i32.add (local.get $c0) (local.get $stride)))
        (local.set $c2 (i32.add (local.get $c1) (local.get $stride)))
        (local.set $c3 (i32.add (local.get $c2) (local.get $stride)))
        (local.set $p (local.get $rows))
        (local.set $end (i32.add (local.get $rows) (local.get $stride)))
        (local.set $r (local.get $end))
        (local.set $a0 (v128.const i32x4 0 0 0 0))
        (local.set $a1 (v128.const i32x4 0 0 0 0))
        (local.set $a2 (v128.const i32x4 0 0 0 0))
        (local.set $a3 (v128.const i32x4 0 0 0 0))
        (local.set $b0 (v128.const i32x4 0 0 0 0))
        (local.set $b1 (v128.const i32x4 0 0 0 0))
        (local.set $b2 (v128.const i32x4 0 0 0 0))
        (local.set $b3 (v128.const i32x4 0 0 0 0))
        (loop $chunk
          (local.set $x (v128.load (local.get $p)))
          (local.set $y (v128.load (local.get $r)))
          (local.set $m (v128.load (local.get $c0)))
          (local.set $a0 (i32x4.add (local.get $a0) (i32x4.dot_i16x8_s (local.get $m) (local.get $x))))
          (local.set $b0 (i32x4.add (local.get $b0) (i32x4.dot_i16x8_s (local.get $m) (local.get $y))))
          (local.set $m (v128.load (local.get $c1)))
          (local.set $a1 (i32x4.add (local.get $a1) (i32x4.dot_i16x8_s (local.get $m) (local.get $x))))
          (local.set $b1 (i32x4.add (local.get $b1) (i32x4.dot_i16x8_s (local.get $m) (local.get $y))))
          (local.set $m (v128.load (local.get $c2)))
          (local.set $a2 (i32x4.add (local.get $a2) (i32x4.dot_i16x8_s (local.get $m) (local.get $x))))
          (local.set $b2 (i32x4.add (local.get $b2) (i32x4.dot_i16x8_s (local.get $m) (local.get $y))))
          (local.set $m (v128.load (local.get $c3)))
          (local.set $a3 (i32x4.add (local.get $a3) (i32x4.dot_i16x8_s (local.get $m) (local.get $x))))
          (local.set $b3 (i32x4.add (local.get $b3) (i32x4.dot_i16x8_s (local.get $m) (local.get $y))))
          (local.set $p (i32.add (local.get $p) (i32.const 16)))
          (local.set $r (i32.add (local.get $r) (i32.const 16)))
          (local.set $c0 (i32.add (local.get $c0) (i32.const 16)))
          (local.set $c1 (i32.add (local.get $c1) (i32.const 16)))
          (local.set $c2 (i32.add (local.get $c2) (i32.const 16)))
          (local.set $c3 (i32.add (local.get $c3) (i32.const 16)))
          (br_if $chunk (i32.lt_u (local.get $p) (local.get $end))))
        (local.set $c0 (local.get $c3))
        (local.set $m (v128.load (i32.add (local.get $halves) (i32.shl (local.get $c) (i32.const 2)))))
        (local.set $x (i32x4.sub (local.get $m)
          (call $across_i32 (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))))
        (local.set $y (i32x4.sub (local.get $m)
          (call $across_i32 (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3))))
        (local.set $less (i32x4.lt_s (local.get $x) (local.get $least)))
        (local.set $least (v128.bitselect (local.get $x) (local.get $least) (local.get $less)))
        (local.set $at (v128.bitselect (local.get $number) (local.get $at) (local.get $less)))
        (local.set $less (i32x4.lt_s (local.get $y) (local.get $otherLeast)))
        (local.set $otherLeast (v128.bitselect (local.get $y) (local.get $otherLeast) (local.get $less)))
        (local.set $otherAt (v128.bitselect (local.get $number) (local.get $otherAt) (local.get $less)))
        (local.set $number (i32x4.add (local.get $number) (v128.const i32x4 4 4 4 4)))
        (local.set $c (i32.add (local.get $c) (i32.const 4)))
        (br_if $four (i32.lt_u (local.get $c) (local.get $centroidCount))))
      (i32.store (local.get $found) (call $least_of (local.get $least) (local.get $at)))
      (i32.store offset=4 (local.get $found) (call $least_of (local.get $otherLeast) (local.get $otherAt)))
      (local.set $found (i32.add (local.get $found) (i32.const 8)))
      (local.set $rows (local.get $r))
      (local.set $count (i32.sub (local.get $count) (i32.const 2)))
      (br_if $two (i32.gt_s (local.get $count) (i32.const 0)))))

  ;; The sums of the lanes of four vectors.
  (func $across_i32 (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result v128)
    (local.set $a (i32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b))))
    (local.set $c (i32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d))))
    (i32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $a) (local.get $c))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $a) (local.get $c))))

  ;; The number that belongs to the least of four values, the least number of several.
  (func $least_of (param $values v128) (param $numbers v128) (result i32)
    (local $other v128) (local $moved v128) (local $less v128)
    (local.set $moved (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $values) (local.get $values)))
    (local.set $other (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $numbers) (local.get $numbers)))
    (local.set $less (v128.or
      (i32x4.lt_s (local.get $moved) (local.get $values))
      (v128.and (i32x4.eq (local.get $moved) (local.get $values))
        (i32x4.lt_s (local.get $other) (local.get $numbers)))))
    (local.set $values (v128.bitselect (local.get $moved) (local.get $values) (local.get $less)))
    (local.set $numbers (v128.bitselect (local.get $other) (local.get $numbers) (local.get $less)))
    (local.set $moved (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $values) (local.get $values)))
    (local.set $other (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $numbers) (local.get $numbers)))
    (local.set $less (v128.or
      (i32x4.lt_s (local.get $moved) (local.get $values))
      (v128.and (i32x4.eq (local.get $moved) (local.get $values))
        (i32x4.lt_s (local.get $other) (local.get $numbers)))))
    (i32x4.extract_lane 0
      (v128.bitselect (local.get $other) (local.get $numbers) (local.get $less))))

  ;; Writes to `found` the numbers, counted from `row` on, of the rows of `count` blocks for which
  ;;   weight * size + factor * (slope * sum + offset) + error * reach < least
  ;; in order, and returns how many they are. A block is of 32 rows: for each table of 16 bytes up to
  ;; `end`, 16 bytes whose lower halves choose a byte of the table for the first 16 rows and whose
  ;; upper halves do for the others, the sum being that of the bytes chosen; then 32 f32 each of
  ;; sizes, factors and errors. Tables are taken by fours, the sum of four bytes is below 256 and that
  ;; of all below 65,536. At `sums` there is room for 64 bytes.
  (func (export "estimate")
    (param $block i32) (param $count i32) (param $tables i32) (param $end i32) (param $sums i32)
    (param $weight f32) (param $slope f32) (param $offset f32) (param $reach f32)
    (param $least f32) (param $row i32) (param $found i32) (result i32)
    (local $t i32) (local $s i32) (local $first i32) (local $mask i32) (local $next i32)
    (local $x v128) (local $m v128) (local $low v128) (local $high v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local.set $first (local.get $found))
    (loop $blocks
      (local.set $a0 (v128.const i32x4 0 0 0 0))
      (local.set $a1 (v128.const i32x4 0 0 0 0))
      (local.set $a2 (v128.const i32x4 0 0 0 0))
      (local.set $a3 (v128.const i32x4 0 0 0 0))
      (local.set $t (local.get $tables))
      (loop $four
        (local.set $m (v128.load (local.get $t)))
        (local.set $x (v128.load (local.get $block)))
        (local.set $low (i8x16.swizzle (local.get $m)
          (v128.and (local.get $x) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))))
        (local.set $high (i8x16.swizzle (local.get $m) (i8x16.shr_u (local.get $x) (i32.const 4))))
        (local.set $m (v128.load offset=16 (local.get $t)))
        (local.set $x (v128.load offset=16 (local.get $block)))
        (local.set $low (i8x16.add (local.get $low) (i8x16.swizzle (local.get $m)
          (v128.and (local.get $x) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))))
        (local.set $high (i8x16.add (local.get $high)
          (i8x16.swizzle (local.get $m) (i8x16.shr_u (local.get $x) (i32.const 4)))))
        (local.set $m (v128.load offset=32 (local.get $t)))
        (local.set $x (v128.load offset=32 (local.get $block)))
        (local.set $low (i8x16.add (local.get $low) (i8x16.swizzle (local.get $m)
          (v128.and (local.get $x) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))))
        (local.set $high (i8x16.add (local.get $high)
          (i8x16.swizzle (local.get $m) (i8x16.shr_u (local.get $x) (i32.const 4)))))
        (local.set $m (v128.load offset=48 (local.get $t)))
        (local.set $x (v128.load offset=48 (local.get $block)))
        (local.set $low (i8x16.add (local.get $low) (i8x16.swizzle (local.get $m)
          (v128.and (local.get $x) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))))
        (local.set $high (i8x16.add (local.get $high)
          (i8x16.swizzle (local.get $m) (i8x16.shr_u (local.get $x) (i32.const 4)))))
        (local.set $a0 (i16x8.add (local.get $a0) (i16x8.extend_low_i8x16_u (local.get $low))))
        (local.set $a1 (i16x8.add (local.get $a1) (i16x8.extend_high_i8x16_u (local.get $low))))
        (local.set $a2 (i16x8.add (local.get $a2) (i16x8.extend_low_i8x16_u (local.get $high))))
        (local.set $a3 (i16x8.add (local.get $a3) (i16x8.extend_high_i8x16_u (local.get $high))))
        (local.set $block (i32.add (local.get $block) (i32.const 64)))
        (local.set $t (i32.add (local.get $t) (i32.const 64)))
        (br_if $four (i32.lt_u (local.get $t) (local.get $end))))
      (v128.store (local.get $sums) (local.get $a0))
      (v128.store offset=16 (local.get $sums) (local.get $a1))
      (v128.store offset=32 (local.get $sums) (local.get $a2))
      (v128.store offset=48 (local.get $sums) (local.get $a3))
      (local.set $s (local.get $sums))
      (local.set $next (i32.add (local.get $block) (i32.const 128)))
      (loop $lanes
        (local.set $x (f32x4.convert_i32x4_u (v128.load16x4_u (local.get $s))))
        (local.set $x (f32x4.add
          (f32x4.mul (local.get $x) (f32x4.splat (local.get $slope)))
          (f32x4.splat (local.get $offset))))
        (local.set $x (f32x4.add
          (f32x4.add
            (f32x4.mul (v128.load (local.get $block)) (f32x4.splat (local.get $weight)))
            (f32x4.mul (v128.load offset=128 (local.get $block)) (local.get $x)))
          (f32x4.mul (v128.load offset=256 (local.get $block)) (f32x4.splat (local.get $reach)))))
        (local.set $mask (i32x4.bitmask (f32x4.lt (local.get $x) (f32x4.splat (local.get $least)))))
        (block $done
          (loop $row_found
            (br_if $done (i32.eqz (local.get $mask)))
            (i32.store (local.get $found) (i32.add (local.get $row) (i32.ctz (local.get $mask))))
            (local.set $found (i32.add (local.get $found) (i32.const 4)))
            (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
            (br $row_found)))
        (local.set $row (i32.add (local.get $row) (i32.const 4)))
        (local.set $block (i32.add (local.get $block) (i32.const 16)))
        (local.set $s (i32.add (local.get $s) (i32.const 8)))
        (br_if $lanes (i32.lt_u (local.get $block) (local.get $next))))
      (local.set $block (i32.add (local.get $block) (i32.const 256)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $blocks (i32.gt_s (local.get $count) (i32.const 0))))
    (i32.shr_u (i32.sub (local.get $found) (local.get $first)) (i32.const 2)))

  ;; For each of `count` numbers of rows, weight * size + slope * step * (codes . query), to `out`. A
  ;; row has `stride` bytes: its codes, as many as the query has numbers, then size and step as f32.
  ;; The query, up to `end`, is of whole numbers of 16 bits, no sum of whose products with codes
  ;; leaves 32 bits.
  (func (export "refine")
    (param $numbers i32) (param $count i32) (param $rows i32) (param $stride i32)
    (param $query i32) (param $end i32) (param $weight f32) (param $slope f32) (param $out i32)
    (local $p i32) (local $q i32)
    (local $a v128) (local $b v128)
    (loop $next
      (local.set $p (i32.add (local.get $rows)
        (i32.mul (i32.load (local.get $numbers)) (local.get $stride))))
      (local.set $q (local.get $query))
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (loop $chunk
        (local.set $a (i32x4.add (local.get $a)
          (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $p)) (v128.load (local.get $q)))))
        (local.set $b (i32x4.add (local.get $b)
          (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=8 (local.get $p)) (v128.load offset=16 (local.get $q)))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $chunk (i32.lt_u (local.get $q) (local.get $end))))
      (local.set $a (i32x4.add (local.get $a) (local.get $b)))
      (local.set $a (i32x4.add (local.get $a)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $a) (local.get $a))))
      (f32.store (local.get $out)
        (f32.add
          (f32.mul (local.get $weight) (f32.load (local.get $p)))
          (f32.mul
            (f32.mul (local.get $slope) (f32.load offset=4 (local.get $p)))
            (f32.convert_i32_s (i32.add
              (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))))))
      (local.set $numbers (i32.add (local.get $numbers) (i32.const 4)))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $next (i32.gt_s (local.get $count) (i32.const 0)))))
)
