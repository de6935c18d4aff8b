;; The inner loops over the bytes of texts: letters of ASCII in one case, the search for a part in
;; many texts at once, the order of each text and a part, and lengths in code points. Knows only
;; bytes in its own memory: no nulls.
;; `npm run build:wasm` assembles this file into texts.wasm.ts.
;;
;; The memory has the part at 0, which of its last 16 bytes count (255) at 512, offsets of texts at
;; 4,096, an answer for each text at 131,072, and the bytes of the texts at 262,144 (1 MiB), behind
;; them as much as may be read past their end. Offsets count from `base`: byte `base` of a column lies at 262,144.
(module
  (memory (export "memory") 22 22)

  ;; The first byte from `at` on that is none of ASCII, `end` where there is none.
  (func (export "high") (param $at i32) (param $end i32) (result i32)
    (local $bits i32)
    (block $none
      (loop $next
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $bits (i8x16.bitmask (v128.load (local.get $at))))
        (if (local.get $bits) (then
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $bits))))
          (return (select (local.get $at) (local.get $end)
            (i32.lt_u (local.get $at) (local.get $end))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (local.get $end))

  ;; Turns the case of the letters from `first` to `first` + 25: of "A" or "a". Up to 15 bytes behind
  ;; `end` change too.
  (func (export "turn_case") (param $at i32) (param $end i32) (param $first i32)
    (local $v v128) (local $from v128) (local $letters v128) (local $flip v128)
    (local.set $from (i8x16.splat (local.get $first)))
    (local.set $letters (i8x16.splat (i32.const 26)))
    (local.set $flip (i8x16.splat (i32.const 32)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $v (v128.load (local.get $at)))
        (v128.store (local.get $at) (v128.xor (local.get $v) (v128.and (local.get $flip)
          (i8x16.lt_u (i8x16.sub (local.get $v) (local.get $from)) (local.get $letters)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  ;; Marks the texts that have the `size` bytes at 0 as true (2), of `rows` texts that follow each
  ;; other, with `bytes` bytes in all. Places are told by the first and the last byte, sixteen at once.
  (func (export "contains") (param $rows i32) (param $base i32) (param $bytes i32) (param $size i32)
    (local $at i32) (local $last i32) (local $place i32) (local $bits i32) (local $k i32)
    (local $row i32) (local $row_end i32) (local $tail i32) (local $mask v128) (local $end16 v128)
    (local $first_byte v128) (local $last_byte v128)
    ;; Where the last 16 bytes of the part begin, and which of them count.
    (if (i32.gt_u (local.get $size) (i32.const 16))
      (then (local.set $tail (i32.sub (local.get $size) (i32.const 16)))))
    (local.set $mask (v128.load offset=512 (i32.const 0)))
    (local.set $end16 (v128.load (local.get $tail)))
    (local.set $first_byte (v128.load8_splat (i32.const 0)))
    (local.set $last_byte (v128.load8_splat (i32.sub (local.get $size) (i32.const 1))))
    (local.set $last (i32.sub (local.get $bytes) (local.get $size)))
    (local.set $row_end (i32.sub (i32.load offset=4100 (i32.const 0)) (local.get $base)))
    (block $done
      (loop $next
        (br_if $done (i32.gt_s (local.get $at) (local.get $last)))
        (local.set $bits (i8x16.bitmask (v128.and
          (i8x16.eq (local.get $first_byte) (v128.load offset=262144 (local.get $at)))
          (i8x16.eq (local.get $last_byte) (v128.load offset=262143
            (i32.add (local.get $at) (local.get $size)))))))
        (block $passed
          (loop $candidate
            (br_if $passed (i32.eqz (local.get $bits)))
            (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $bits))))
            (local.set $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))
            (br_if $done (i32.gt_s (local.get $place) (local.get $last)))
            (br_if $candidate (v128.any_true (v128.and (local.get $mask) (v128.xor (local.get $end16)
              (v128.load offset=262144 (i32.add (local.get $place) (local.get $tail)))))))
            (local.set $k (i32.const 0))
            (block $equal
              (loop $before
                (br_if $equal (i32.ge_u (local.get $k) (local.get $tail)))
                (br_if $candidate (v128.any_true (v128.xor (v128.load (local.get $k))
                  (v128.load offset=262144 (i32.add (local.get $place) (local.get $k))))))
                (local.set $k (i32.add (local.get $k) (i32.const 16)))
                (br $before)))
            ;; The text that it begins in.
            (block $here
              (loop $text
                (br_if $here (i32.gt_s (local.get $row_end) (local.get $place)))
                (local.set $row (i32.add (local.get $row) (i32.const 1)))
                (br_if $done (i32.ge_u (local.get $row) (local.get $rows)))
                (local.set $row_end (i32.sub
                  (i32.load offset=4100 (i32.shl (local.get $row) (i32.const 2)))
                  (local.get $base)))
                (br $text)))
            ;; A place that runs over the end of a text is none.
            (br_if $candidate (i32.gt_s
              (i32.add (local.get $place) (local.get $size)) (local.get $row_end)))
            (i32.store8 offset=131072 (local.get $row) (i32.const 2))
            (local.set $at (local.get $row_end))
            (br $next)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  ;; Compares each text with the `size` bytes at 0, and adds `less`, `same` or `more` to the bits of its
  ;; answer that are in `kept`.
  (func (export "order") (param $rows i32) (param $base i32) (param $size i32)
    (param $less i32) (param $same i32) (param $more i32) (param $kept i32)
    (local $row i32) (local $at i32) (local $length i32) (local $least i32) (local $k i32)
    (local $bits i32) (local $answer i32)
    (block $done
      (loop $text
        (br_if $done (i32.ge_u (local.get $row) (local.get $rows)))
        (local.set $at (i32.load offset=4096 (i32.shl (local.get $row) (i32.const 2))))
        (local.set $length (i32.sub
          (i32.load offset=4100 (i32.shl (local.get $row) (i32.const 2))) (local.get $at)))
        (local.set $at (i32.sub (local.get $at) (local.get $base)))
        (local.set $least (select (local.get $length) (local.get $size)
          (i32.lt_u (local.get $length) (local.get $size))))
        (local.set $answer (select (local.get $same)
          (select (local.get $less) (local.get $more)
            (i32.lt_u (local.get $length) (local.get $size)))
          (i32.eq (local.get $length) (local.get $size))))
        (local.set $k (i32.const 0))
        (block $told
          (loop $next
            (br_if $told (i32.ge_u (local.get $k) (local.get $least)))
            (local.set $bits (i32.xor (i32.const 65535) (i8x16.bitmask (i8x16.eq
              (v128.load (local.get $k))
              (v128.load offset=262144 (i32.add (local.get $at) (local.get $k)))))))
            (if (local.get $bits) (then
              (local.set $k (i32.add (local.get $k) (i32.ctz (local.get $bits))))
              (br_if $told (i32.ge_u (local.get $k) (local.get $least)))
              (local.set $answer (select (local.get $less) (local.get $more) (i32.lt_u
                (i32.load8_u offset=262144 (i32.add (local.get $at) (local.get $k)))
                (i32.load8_u (local.get $k)))))
              (br $told)))
            (local.set $k (i32.add (local.get $k) (i32.const 16)))
            (br $next)))
        (i32.store8 offset=131072 (local.get $row) (i32.or (local.get $answer)
          (i32.and (local.get $kept) (i32.load8_u offset=131072 (local.get $row)))))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $text))))

  ;; 1 for each text that is not ASCII alone, 0 for others.
  (func (export "highs") (param $rows i32) (param $base i32)
    (local $row i32) (local $at i32) (local $end i32) (local $bits i32) (local $part i32)
    (block $done
      (loop $text
        (br_if $done (i32.ge_u (local.get $row) (local.get $rows)))
        (local.set $at (i32.sub
          (i32.load offset=4096 (i32.shl (local.get $row) (i32.const 2))) (local.get $base)))
        (local.set $end (i32.sub
          (i32.load offset=4100 (i32.shl (local.get $row) (i32.const 2))) (local.get $base)))
        (local.set $bits (i32.const 0))
        (block $seen
          (loop $next
            (br_if $seen (i32.ge_s (local.get $at) (local.get $end)))
            (local.set $part (i8x16.bitmask (v128.load offset=262144 (local.get $at))))
            (if (i32.gt_s (i32.const 16) (i32.sub (local.get $end) (local.get $at))) (then
              (local.set $part (i32.and (local.get $part) (i32.sub
                (i32.shl (i32.const 1) (i32.sub (local.get $end) (local.get $at)))
                (i32.const 1))))))
            (local.set $bits (i32.or (local.get $bits) (local.get $part)))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $next)))
        (i32.store8 offset=131072 (local.get $row) (i32.ne (local.get $bits) (i32.const 0)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $text))))

  ;; Bytes that begin a code point, of each text, as a double.
  (func (export "points") (param $rows i32) (param $base i32)
    (local $row i32) (local $at i32) (local $end i32) (local $count i32) (local $bits i32)
    (local $inside v128)
    (local.set $inside (i8x16.splat (i32.const -64)))
    (block $done
      (loop $text
        (br_if $done (i32.ge_u (local.get $row) (local.get $rows)))
        (local.set $at (i32.sub
          (i32.load offset=4096 (i32.shl (local.get $row) (i32.const 2))) (local.get $base)))
        (local.set $end (i32.sub
          (i32.load offset=4100 (i32.shl (local.get $row) (i32.const 2))) (local.get $base)))
        (local.set $count (i32.const 0))
        (block $counted
          (loop $next
            (br_if $counted (i32.ge_s (local.get $at) (local.get $end)))
            (local.set $bits (i8x16.bitmask (i8x16.ge_s
              (v128.load offset=262144 (local.get $at)) (local.get $inside))))
            (if (i32.gt_s (i32.const 16) (i32.sub (local.get $end) (local.get $at))) (then
              (local.set $bits (i32.and (local.get $bits) (i32.sub
                (i32.shl (i32.const 1) (i32.sub (local.get $end) (local.get $at)))
                (i32.const 1))))))
            (local.set $count (i32.add (local.get $count) (i32.popcnt (local.get $bits))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $next)))
        (f64.store offset=131072 (i32.shl (local.get $row) (i32.const 3))
          (f64.convert_i32_u (local.get $count)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $text)))))
