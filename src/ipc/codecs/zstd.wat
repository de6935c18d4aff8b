;; The inner loops of Zstandard for one frame: `find` looks for matches in up to 64 KiB, `huffman` and
;; `sequences` write the two bit streams of a block, `unhuffman` and `execute` read them. Tables are
;; made by the callers, who write them and the input into the memory and check all lengths before.
;; Damaged streams are reported by the result, and can reach nothing but this memory.
;; `npm run build:wasm` assembles this file into zstd.wasm.ts.
;;
;; The memory, from byte
;;       0  a Huffman table to decode with: by the next bits a symbol and how many bits it takes
;;    4096  tables of literal lengths, offsets and match lengths to decode with, 4 KiB each: by state
;;          what to add to the next state (16 bits), its bits, the bits that follow, a base (32 bits)
;;   16384  codes of literals: the code, and its bits in the upper 16
;;   20480  states of literal lengths, offsets and match lengths to encode with, 2 KiB each
;;   26624  by code of each: what to add for the number of bits, and for the state (64 * 8 bytes each)
;;   32768  how often each literal occurs, and each code of the three (256 and 3 * 64 numbers)
;;   34816  by length below 128: the codes of literal lengths, and at 34944 those of match lengths
;;   35072  by code: bits that follow a literal length, and at 35136 a match length
;;   40960  pairs of literals to decode with: by the next 11 bits two symbols (8 bits each), how many bits
;;          both take, and how many of the two these bits hold (8 bits each)
;;   65536  literals, at most 131,072
;;  196608  the input of a decoder, and the output of an encoder
;;  327680  the content, which begins here; up to 64 bytes behind it are overwritten. In an instance that
;;          only decodes it may have 2 MiB, over what follows
;;  458752  positions of the content by hash (16 bits each, 32,768 of them)
;;  524288  sequences: run of literals, length of the match less 3 (16 bits each), offset (32 bits)
;;  720896  codes of the sequences, one byte in each of three runs of 16,384
(module
  (memory (export "memory") 12 38)

  ;; The last three distances, which sequences may name by number. They go on from block to block.
  (global $near (export "near") (mut i32) (i32.const 1))
  (global $second (export "second") (mut i32) (i32.const 4))
  (global $third (export "third") (mut i32) (i32.const 8))
  ;; Literals that are not used yet, after `execute`.
  (global $literal (export "literal") (mut i32) (i32.const 0))

  ;; How many bits a Huffman stream of the bytes from $at to $end has; negative where it has no end.
  (func $bits_of (param $at i32) (param $end i32) (result i32)
    (local $last i32)
    (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.const -1))))
    (local.set $last (i32.load8_u (i32.sub (local.get $end) (i32.const 1))))
    (if (i32.eqz (local.get $last)) (then (return (i32.const -1))))
    (i32.sub
      (i32.shl (i32.sub (local.get $end) (local.get $at)) (i32.const 3))
      (i32.sub (i32.clz (local.get $last)) (i32.const 23))))

  ;; Reads the $left bits of a Huffman stream from $at on into $to up to $stop, by a table of which
  ;; $shift is 64 less the bits. Returns 0 where the stream ends just there.
  (func $stream (param $at i32) (param $left i32) (param $to i32) (param $stop i32) (param $shift i64)
      (result i32)
    (local $word i64) (local $entry i32) (local $used i32)
    (block $slow
      (loop $next
        (br_if $slow (i32.gt_u (i32.add (local.get $to) (i32.const 4)) (local.get $stop)))
        ;; The bits that are left, the next one on top: at least 57 of them.
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at)
            (i32.shr_s (i32.add (local.get $left) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left)) (i32.const 7)))))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 (local.get $to) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left (i32.sub (local.get $left) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=1 (local.get $to) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left (i32.sub (local.get $left) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=2 (local.get $to) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left (i32.sub (local.get $left) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=3 (local.get $to) (local.get $entry))
        (local.set $left (i32.sub (local.get $left) (i32.shr_u (local.get $entry) (i32.const 8))))
        (br_if $slow (i32.lt_s (local.get $left) (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 4)))
        (br $next)))
    (if (i32.lt_s (local.get $left) (i32.const 0)) (then (return (i32.const 1))))
    (block $done
      (loop $one
        (br_if $done (i32.ge_u (local.get $to) (local.get $stop)))
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at)
            (i32.shr_s (i32.add (local.get $left) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left)) (i32.const 7)))))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 (local.get $to) (local.get $entry))
        (local.set $left (i32.sub (local.get $left) (i32.shr_u (local.get $entry) (i32.const 8))))
        (if (i32.lt_s (local.get $left) (i32.const 0)) (then (return (i32.const 1))))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (br $one)))
    (i32.ne (local.get $left) (i32.const 0)))

  ;; Makes the table of pairs of the table of single literals, of which $width is the bits.
  (func $pairs (param $width i32)
    (local $at i32) (local $first i32) (local $second i32) (local $used i32)
    (local.set $width (i32.sub (i32.const 11) (local.get $width)))
    (loop $next
      (local.set $first (i32.load16_u (i32.shl
        (i32.shr_u (local.get $at) (local.get $width)) (i32.const 1))))
      (local.set $used (i32.shr_u (local.get $first) (i32.const 8)))
      (local.set $second (i32.load16_u (i32.shl
        (i32.shr_u (i32.and (i32.shl (local.get $at) (local.get $used)) (i32.const 2047))
          (local.get $width))
        (i32.const 1))))
      (local.set $first (i32.add (i32.and (local.get $first) (i32.const 255))
        (i32.shl (local.get $used) (i32.const 16))))
      (i32.store offset=40960 (i32.shl (local.get $at) (i32.const 2))
        (if (result i32) (i32.le_u
            (i32.add (local.get $used) (i32.shr_u (local.get $second) (i32.const 8)))
            (i32.const 11))
          (then (i32.add (local.get $first)
            (i32.add (i32.shl (local.get $second) (i32.const 8)) (i32.const 0x2000000))))
          (else (i32.add (local.get $first) (i32.const 0x1000000)))))
      (br_if $next (i32.lt_u
        (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 2048)))))

  ;; Reads $size literals from the streams between $at and $end: one, or four of which the lengths of
  ;; three come first. Returns 0 where all of them end where they should. A symbol has to wait for the
  ;; one before it, so the processor works on four streams at a time.
  (func (export "unhuffman") (param $at i32) (param $end i32) (param $size i32) (param $width i32)
      (param $four i32) (result i32)
    (local $quarter i32) (local $rounds i32) (local $shift i64)
    (local $at_a i32) (local $at_b i32) (local $at_c i32) (local $at_d i32)
    (local $left_a i32) (local $left_b i32) (local $left_c i32) (local $left_d i32)
    (local $to_a i32) (local $to_b i32) (local $to_c i32) (local $to_d i32)
    (local $end_a i32) (local $end_b i32) (local $end_c i32) (local $end_d i32)
    (local $word i64) (local $entry i32) (local $used i32)
    (local.set $shift (i64.extend_i32_u (i32.sub (i32.const 64) (local.get $width))))
    (local.set $to_a (i32.const 65536))
    (if (i32.eqz (local.get $four)) (then
      (local.set $left_a (call $bits_of (local.get $at) (local.get $end)))
      (if (i32.lt_s (local.get $left_a) (i32.const 0)) (then (return (i32.const 1))))
      (return (call $stream (local.get $at) (local.get $left_a) (local.get $to_a)
        (i32.add (local.get $to_a) (local.get $size)) (local.get $shift)))))
    (local.set $quarter (i32.shr_u (i32.add (local.get $size) (i32.const 3)) (i32.const 2)))
    (if (i32.gt_u (i32.mul (local.get $quarter) (i32.const 3)) (local.get $size))
      (then (return (i32.const 1))))
    (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 10))
      (then (return (i32.const 1))))
    (local.set $at_a (i32.add (local.get $at) (i32.const 6)))
    (local.set $at_b (i32.add (local.get $at_a) (i32.load16_u (local.get $at))))
    (local.set $at_c (i32.add (local.get $at_b) (i32.load16_u offset=2 (local.get $at))))
    (local.set $at_d (i32.add (local.get $at_c) (i32.load16_u offset=4 (local.get $at))))
    (if (i32.ge_u (local.get $at_d) (local.get $end)) (then (return (i32.const 1))))
    (local.set $left_a (call $bits_of (local.get $at_a) (local.get $at_b)))
    (local.set $left_b (call $bits_of (local.get $at_b) (local.get $at_c)))
    (local.set $left_c (call $bits_of (local.get $at_c) (local.get $at_d)))
    (local.set $left_d (call $bits_of (local.get $at_d) (local.get $end)))
    (local.set $end_a (i32.add (local.get $to_a) (local.get $quarter)))
    (local.set $end_b (i32.add (local.get $end_a) (local.get $quarter)))
    (local.set $end_c (i32.add (local.get $end_b) (local.get $quarter)))
    (local.set $end_d (i32.add (i32.const 65536) (local.get $size)))
    (local.set $to_b (local.get $end_a))
    (local.set $to_c (local.get $end_b))
    (local.set $to_d (local.get $end_c))
    ;; Rounds of four literals each, as far as the last stream has them, which is the shortest.
    (local.set $rounds (i32.shr_u (i32.sub (local.get $size)
      (i32.mul (local.get $quarter) (i32.const 3))) (i32.const 2)))
    ;; Where codes take 5.5 bits or less on average, most lookups give two literals: five lookups of
    ;; each stream in turn, as long as none is near to its end. The table is worth it for many only.
    (if (i32.and (i32.ge_u (local.get $size) (i32.const 4096))
        (i32.lt_u (i32.mul (i32.sub (local.get $end) (local.get $at)) (i32.const 16))
          (i32.mul (local.get $size) (i32.const 11))))
      (then
        (call $pairs (local.get $width))
        (block $near
          (loop $more
            (if (i32.lt_s (i32.or (i32.or (local.get $left_a) (local.get $left_b))
                (i32.or (local.get $left_c) (local.get $left_d))) (i32.const 0))
              (then (return (i32.const 1))))
            (br_if $near (i32.or
              (i32.or
                (i32.gt_u (i32.add (local.get $to_a) (i32.const 10)) (local.get $end_a))
                (i32.gt_u (i32.add (local.get $to_b) (i32.const 10)) (local.get $end_b)))
              (i32.or
                (i32.gt_u (i32.add (local.get $to_c) (i32.const 10)) (local.get $end_c))
                (i32.gt_u (i32.add (local.get $to_d) (i32.const 10)) (local.get $end_d)))))
            (local.set $word (i64.shl
              (i64.load (i32.sub (i32.add (local.get $at_a)
                (i32.shr_s (i32.add (local.get $left_a) (i32.const 7)) (i32.const 3))) (i32.const 8)))
              (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_a)) (i32.const 7)))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_a) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
            (local.set $to_a (i32.add (local.get $to_a) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_a) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
            (local.set $to_a (i32.add (local.get $to_a) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_a) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
            (local.set $to_a (i32.add (local.get $to_a) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_a) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
            (local.set $to_a (i32.add (local.get $to_a) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_a) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
            (local.set $to_a (i32.add (local.get $to_a) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $word (i64.shl
              (i64.load (i32.sub (i32.add (local.get $at_b)
                (i32.shr_s (i32.add (local.get $left_b) (i32.const 7)) (i32.const 3))) (i32.const 8)))
              (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_b)) (i32.const 7)))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_b) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
            (local.set $to_b (i32.add (local.get $to_b) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_b) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
            (local.set $to_b (i32.add (local.get $to_b) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_b) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
            (local.set $to_b (i32.add (local.get $to_b) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_b) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
            (local.set $to_b (i32.add (local.get $to_b) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_b) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
            (local.set $to_b (i32.add (local.get $to_b) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $word (i64.shl
              (i64.load (i32.sub (i32.add (local.get $at_c)
                (i32.shr_s (i32.add (local.get $left_c) (i32.const 7)) (i32.const 3))) (i32.const 8)))
              (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_c)) (i32.const 7)))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_c) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
            (local.set $to_c (i32.add (local.get $to_c) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_c) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
            (local.set $to_c (i32.add (local.get $to_c) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_c) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
            (local.set $to_c (i32.add (local.get $to_c) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_c) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
            (local.set $to_c (i32.add (local.get $to_c) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_c) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
            (local.set $to_c (i32.add (local.get $to_c) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $word (i64.shl
              (i64.load (i32.sub (i32.add (local.get $at_d)
                (i32.shr_s (i32.add (local.get $left_d) (i32.const 7)) (i32.const 3))) (i32.const 8)))
              (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_d)) (i32.const 7)))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_d) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
            (local.set $to_d (i32.add (local.get $to_d) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_d) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
            (local.set $to_d (i32.add (local.get $to_d) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_d) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
            (local.set $to_d (i32.add (local.get $to_d) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_d) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
            (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
            (local.set $to_d (i32.add (local.get $to_d) (i32.shr_u (local.get $entry) (i32.const 24))))
            (local.set $entry (i32.load offset=40960 (i32.shl
              (i32.wrap_i64 (i64.shr_u (local.get $word) (i64.const 53))) (i32.const 2))))
            (i32.store16 (local.get $to_d) (local.get $entry))
            (local.set $used (i32.and (i32.shr_u (local.get $entry) (i32.const 16)) (i32.const 255)))
            (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
            (local.set $to_d (i32.add (local.get $to_d) (i32.shr_u (local.get $entry) (i32.const 24))))
            (br $more)))
        (local.set $rounds (i32.const 0))))
    (block $short
      (loop $next
        ;; One of them has no end, or has ended too early.
        (if (i32.lt_s (i32.or (i32.or (local.get $left_a) (local.get $left_b))
            (i32.or (local.get $left_c) (local.get $left_d))) (i32.const 0))
          (then (return (i32.const 1))))
        (br_if $short (i32.eqz (local.get $rounds)))
        (local.set $rounds (i32.sub (local.get $rounds) (i32.const 1)))
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at_a)
            (i32.shr_s (i32.add (local.get $left_a) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_a)) (i32.const 7)))))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 (local.get $to_a) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=1 (local.get $to_a) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=2 (local.get $to_a) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_a (i32.sub (local.get $left_a) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=3 (local.get $to_a) (local.get $entry))
        (local.set $left_a (i32.sub (local.get $left_a)
          (i32.shr_u (local.get $entry) (i32.const 8))))
        (local.set $to_a (i32.add (local.get $to_a) (i32.const 4)))
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at_b)
            (i32.shr_s (i32.add (local.get $left_b) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_b)) (i32.const 7)))))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 (local.get $to_b) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=1 (local.get $to_b) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=2 (local.get $to_b) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_b (i32.sub (local.get $left_b) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=3 (local.get $to_b) (local.get $entry))
        (local.set $left_b (i32.sub (local.get $left_b)
          (i32.shr_u (local.get $entry) (i32.const 8))))
        (local.set $to_b (i32.add (local.get $to_b) (i32.const 4)))
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at_c)
            (i32.shr_s (i32.add (local.get $left_c) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_c)) (i32.const 7)))))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 (local.get $to_c) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=1 (local.get $to_c) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=2 (local.get $to_c) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_c (i32.sub (local.get $left_c) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=3 (local.get $to_c) (local.get $entry))
        (local.set $left_c (i32.sub (local.get $left_c)
          (i32.shr_u (local.get $entry) (i32.const 8))))
        (local.set $to_c (i32.add (local.get $to_c) (i32.const 4)))
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at_d)
            (i32.shr_s (i32.add (local.get $left_d) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left_d)) (i32.const 7)))))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 (local.get $to_d) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=1 (local.get $to_d) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=2 (local.get $to_d) (local.get $entry))
        (local.set $used (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $word (i64.shl (local.get $word) (i64.extend_i32_u (local.get $used))))
        (local.set $left_d (i32.sub (local.get $left_d) (local.get $used)))
        (local.set $entry (i32.load16_u (i32.shl
          (i32.wrap_i64 (i64.shr_u (local.get $word) (local.get $shift))) (i32.const 1))))
        (i32.store8 offset=3 (local.get $to_d) (local.get $entry))
        (local.set $left_d (i32.sub (local.get $left_d)
          (i32.shr_u (local.get $entry) (i32.const 8))))
        (local.set $to_d (i32.add (local.get $to_d) (i32.const 4)))
        (br $next)))
    (i32.or
      (i32.or
        (call $stream (local.get $at_a) (local.get $left_a) (local.get $to_a) (local.get $end_a)
          (local.get $shift))
        (call $stream (local.get $at_b) (local.get $left_b) (local.get $to_b) (local.get $end_b)
          (local.get $shift)))
      (i32.or
        (call $stream (local.get $at_c) (local.get $left_c) (local.get $to_c) (local.get $end_c)
          (local.get $shift))
        (call $stream (local.get $at_d) (local.get $left_d) (local.get $to_d) (local.get $end_d)
          (local.get $shift)))))

  ;; Copies at least 16 bytes; what lies up to 16 bytes behind the end is overwritten.
  (func $copy (param $from i32) (param $to i32) (param $stop i32)
    (loop $next
      (v128.store (local.get $to) (v128.load (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $to) (local.get $stop)))))

  ;; Runs $count sequences of the bit stream from $at to $end: the content grows from $to, up to $stop
  ;; at most, with the $literals literals. Returns where it ends, or a negative number where the stream
  ;; does not end there (-1), content or literals are too few (-2), or a match leads out of it (-3).
  (func (export "execute") (param $at i32) (param $end i32) (param $count i32) (param $widths i32)
      (param $to i32) (param $stop i32) (param $literals i32) (result i32)
    (local $left i32) (local $word i64) (local $bits i64)
    (local $run_state i32) (local $offset_state i32) (local $match_state i32)
    (local $run_entry i64) (local $offset_entry i64) (local $match_entry i64)
    (local $run i32) (local $offset i32) (local $match i32)
    (local $near i32) (local $second i32) (local $third i32) (local $literal i32)
    (local $from i32) (local $last i32)
    (local.set $near (global.get $near))
    (local.set $second (global.get $second))
    (local.set $third (global.get $third))
    (local.set $literal (i32.const 65536))
    (local.set $literals (i32.add (local.get $literals) (i32.const 65536)))
    (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.const -1))))
    (local.set $last (i32.load8_u (i32.sub (local.get $end) (i32.const 1))))
    (if (i32.eqz (local.get $last)) (then (return (i32.const -1))))
    (local.set $left (i32.sub
      (i32.shl (i32.sub (local.get $end) (local.get $at)) (i32.const 3))
      (i32.sub (i32.clz (local.get $last)) (i32.const 23))))
    ;; The first states: of literal lengths, offsets and match lengths, 4 bits of $widths each.
    (local.set $word (i64.shl
      (i64.load (i32.sub (i32.add (local.get $at)
        (i32.shr_s (i32.add (local.get $left) (i32.const 7)) (i32.const 3))) (i32.const 8)))
      (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left)) (i32.const 7)))))
    (local.set $bits (i64.extend_i32_u (i32.and (local.get $widths) (i32.const 15))))
    (local.set $run_state (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
      (i64.sub (i64.const 63) (local.get $bits)))))
    (local.set $word (i64.shl (local.get $word) (local.get $bits)))
    (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
    (local.set $bits (i64.extend_i32_u
      (i32.and (i32.shr_u (local.get $widths) (i32.const 4)) (i32.const 15))))
    (local.set $offset_state (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
      (i64.sub (i64.const 63) (local.get $bits)))))
    (local.set $word (i64.shl (local.get $word) (local.get $bits)))
    (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
    (local.set $bits (i64.extend_i32_u (i32.shr_u (local.get $widths) (i32.const 8))))
    (local.set $match_state (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
      (i64.sub (i64.const 63) (local.get $bits)))))
    (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
    (loop $next
      (if (i32.lt_s (local.get $left) (i32.const 0)) (then (return (i32.const -1))))
      (local.set $run_entry (i64.load offset=4096 (i32.shl (local.get $run_state) (i32.const 3))))
      (local.set $offset_entry (i64.load offset=8192 (i32.shl (local.get $offset_state) (i32.const 3))))
      (local.set $match_entry (i64.load offset=12288 (i32.shl (local.get $match_state) (i32.const 3))))
      ;; Up to 16 bits of each length and 25 of the offset: what is longer leads out of the content anyway.
      (local.set $word (i64.shl
        (i64.load (i32.sub (i32.add (local.get $at)
          (i32.shr_s (i32.add (local.get $left) (i32.const 7)) (i32.const 3))) (i32.const 8)))
        (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left)) (i32.const 7)))))
      (local.set $bits (i64.and (i64.shr_u (local.get $offset_entry) (i64.const 24)) (i64.const 255)))
      (local.set $offset (i32.add
        (i32.wrap_i64 (i64.shr_u (local.get $offset_entry) (i64.const 32)))
        (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
          (i64.sub (i64.const 63) (local.get $bits))))))
      (local.set $word (i64.shl (local.get $word) (local.get $bits)))
      (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
      (local.set $bits (i64.and (i64.shr_u (local.get $match_entry) (i64.const 24)) (i64.const 255)))
      (local.set $match (i32.add
        (i32.wrap_i64 (i64.shr_u (local.get $match_entry) (i64.const 32)))
        (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
          (i64.sub (i64.const 63) (local.get $bits))))))
      (local.set $word (i64.shl (local.get $word) (local.get $bits)))
      (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
      (local.set $bits (i64.and (i64.shr_u (local.get $run_entry) (i64.const 24)) (i64.const 255)))
      (local.set $run (i32.add
        (i32.wrap_i64 (i64.shr_u (local.get $run_entry) (i64.const 32)))
        (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
          (i64.sub (i64.const 63) (local.get $bits))))))
      (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (if (local.get $count) (then
        (local.set $word (i64.shl
          (i64.load (i32.sub (i32.add (local.get $at)
            (i32.shr_s (i32.add (local.get $left) (i32.const 7)) (i32.const 3))) (i32.const 8)))
          (i64.extend_i32_u (i32.and (i32.sub (i32.const 0) (local.get $left)) (i32.const 7)))))
        (local.set $bits (i64.and (i64.shr_u (local.get $run_entry) (i64.const 16)) (i64.const 255)))
        (local.set $run_state (i32.add
          (i32.and (i32.wrap_i64 (local.get $run_entry)) (i32.const 65535))
          (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
            (i64.sub (i64.const 63) (local.get $bits))))))
        (local.set $word (i64.shl (local.get $word) (local.get $bits)))
        (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
        (local.set $bits (i64.and (i64.shr_u (local.get $match_entry) (i64.const 16)) (i64.const 255)))
        (local.set $match_state (i32.add
          (i32.and (i32.wrap_i64 (local.get $match_entry)) (i32.const 65535))
          (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
            (i64.sub (i64.const 63) (local.get $bits))))))
        (local.set $word (i64.shl (local.get $word) (local.get $bits)))
        (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))
        (local.set $bits (i64.and (i64.shr_u (local.get $offset_entry) (i64.const 16)) (i64.const 255)))
        (local.set $offset_state (i32.add
          (i32.and (i32.wrap_i64 (local.get $offset_entry)) (i32.const 65535))
          (i32.wrap_i64 (i64.shr_u (i64.shr_u (local.get $word) (i64.const 1))
            (i64.sub (i64.const 63) (local.get $bits))))))
        (local.set $left (i32.sub (local.get $left) (i32.wrap_i64 (local.get $bits))))))
      ;; The offset: 1 to 3 repeat one of the last three, and move it to the front.
      (if (i32.gt_u (local.get $offset) (i32.const 3))
        (then
          (local.set $third (local.get $second))
          (local.set $second (local.get $near))
          (local.set $near (i32.sub (local.get $offset) (i32.const 3))))
        (else
          (local.set $offset (i32.add (local.get $offset) (i32.eqz (local.get $run))))
          (if (i32.gt_u (local.get $offset) (i32.const 1)) (then
            (local.set $from (select
              (i32.sub (local.get $near) (i32.const 1))
              (select (local.get $second) (local.get $third)
                (i32.eq (local.get $offset) (i32.const 2)))
              (i32.eq (local.get $offset) (i32.const 4))))
            (if (i32.ne (local.get $offset) (i32.const 2))
              (then (local.set $third (local.get $second))))
            (local.set $second (local.get $near))
            (local.set $near (local.get $from))))))
      (local.set $last (i32.add (local.get $to) (local.get $run)))
      (if (i32.or
          (i32.gt_u (local.get $run) (i32.sub (local.get $literals) (local.get $literal)))
          (i32.gt_u (i32.add (local.get $last) (local.get $match)) (local.get $stop)))
        (then (return (i32.const -2))))
      ;; Copies of their own in place of calls, around which all that is known would be saved. What lies
      ;; up to 16 bytes behind the end is overwritten.
      (local.set $from (local.get $literal))
      (loop $literals
        (v128.store (local.get $to) (v128.load (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (local.set $to (i32.add (local.get $to) (i32.const 16)))
        (br_if $literals (i32.lt_u (local.get $to) (local.get $last))))
      (local.set $literal (i32.add (local.get $literal) (local.get $run)))
      (local.set $to (local.get $last))
      (if (i32.ge_u (i32.sub (local.get $near) (i32.const 1))
          (i32.sub (local.get $to) (i32.const 327680)))
        (then (return (i32.const -3))))
      (local.set $from (i32.sub (local.get $to) (local.get $near)))
      (local.set $last (i32.add (local.get $to) (local.get $match)))
      (if (i32.ge_u (local.get $near) (i32.const 16))
        (then
          (loop $sixteen
            (v128.store (local.get $to) (v128.load (local.get $from)))
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $to (i32.add (local.get $to) (i32.const 16)))
            (br_if $sixteen (i32.lt_u (local.get $to) (local.get $last)))))
        (else
          ;; Below eight, the first eight bytes one by one: then it repeats at a multiple of the
          ;; distance too.
          (if (i32.lt_u (local.get $near) (i32.const 8)) (then
            (i32.store8 (local.get $to) (i32.load8_u (local.get $from)))
            (i32.store8 offset=1 (local.get $to) (i32.load8_u offset=1 (local.get $from)))
            (i32.store8 offset=2 (local.get $to) (i32.load8_u offset=2 (local.get $from)))
            (i32.store8 offset=3 (local.get $to) (i32.load8_u offset=3 (local.get $from)))
            (i32.store8 offset=4 (local.get $to) (i32.load8_u offset=4 (local.get $from)))
            (i32.store8 offset=5 (local.get $to) (i32.load8_u offset=5 (local.get $from)))
            (i32.store8 offset=6 (local.get $to) (i32.load8_u offset=6 (local.get $from)))
            (i32.store8 offset=7 (local.get $to) (i32.load8_u offset=7 (local.get $from)))
            (local.set $to (i32.add (local.get $to) (i32.const 8)))
            (local.set $from (i32.sub (local.get $to)
              (i32.mul (local.get $near)
                (i32.div_u (i32.add (local.get $near) (i32.const 7)) (local.get $near)))))))
          (block $whole
            (loop $eight
              (br_if $whole (i32.ge_u (local.get $to) (local.get $last)))
              (i64.store (local.get $to) (i64.load (local.get $from)))
              (local.set $from (i32.add (local.get $from) (i32.const 8)))
              (local.set $to (i32.add (local.get $to) (i32.const 8)))
              (br $eight)))))
      (local.set $to (local.get $last))
      (br_if $next (local.get $count)))
    (if (local.get $left) (then (return (i32.const -1))))
    (global.set $near (local.get $near))
    (global.set $second (local.get $second))
    (global.set $third (local.get $third))
    (global.set $literal (local.get $literal))
    (local.get $to))

  (global $sequences (mut i32) (i32.const 0))

  ;; How many bytes from $at on are the same as those from $from on, up to $stop.
  (func $same (param $at i32) (param $from i32) (param $stop i32) (result i32)
    (local $begin i32) (local $word i64)
    (local.set $begin (local.get $at))
    (block $tail
      (loop $next
        (br_if $tail (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $stop)))
        (local.set $word (i64.xor (i64.load (local.get $at)) (i64.load (local.get $from))))
        (if (i64.ne (local.get $word) (i64.const 0)) (then
          (return (i32.add (i32.sub (local.get $at) (local.get $begin))
            (i32.shr_u (i32.wrap_i64 (i64.ctz (local.get $word))) (i32.const 3))))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $from (i32.add (local.get $from) (i32.const 8)))
        (br $next)))
    (block $done
      (loop $byte
        (br_if $done (i32.ge_u (local.get $at) (local.get $stop)))
        (br_if $done (i32.ne (i32.load8_u (local.get $at)) (i32.load8_u (local.get $from))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (br $byte)))
    (i32.sub (local.get $at) (local.get $begin)))

  ;; Adds one to a number.
  (func $count (param $at i32)
    (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (i32.const 1))))

  ;; Adds a sequence: $run literals from $from on, then a match of so many bytes.
  (func $add (param $from i32) (param $run i32) (param $match i32) (param $offset i32)
    (local $at i32) (local $code i32)
    (call $copy (local.get $from) (global.get $literal)
      (i32.add (global.get $literal) (local.get $run)))
    (global.set $literal (i32.add (global.get $literal) (local.get $run)))
    (local.set $match (i32.sub (local.get $match) (i32.const 3)))
    (local.set $at (i32.shl (global.get $sequences) (i32.const 3)))
    (i32.store16 offset=524288 (local.get $at) (local.get $run))
    (i32.store16 offset=524290 (local.get $at) (local.get $match))
    (i32.store offset=524292 (local.get $at) (local.get $offset))
    (local.set $at (global.get $sequences))
    (local.set $code (if (result i32) (i32.lt_u (local.get $run) (i32.const 64))
      (then (i32.load8_u offset=34816 (local.get $run)))
      (else (i32.sub (i32.const 50) (i32.clz (local.get $run))))))
    (i32.store8 offset=720896 (local.get $at) (local.get $code))
    (call $count (i32.add (i32.const 33792) (i32.shl (local.get $code) (i32.const 2))))
    (local.set $code (i32.sub (i32.const 31) (i32.clz (local.get $offset))))
    (i32.store8 offset=737280 (local.get $at) (local.get $code))
    (call $count (i32.add (i32.const 34048) (i32.shl (local.get $code) (i32.const 2))))
    (local.set $code (if (result i32) (i32.lt_u (local.get $match) (i32.const 128))
      (then (i32.load8_u offset=34944 (local.get $match)))
      (else (i32.sub (i32.const 67) (i32.clz (local.get $match))))))
    (i32.store8 offset=753664 (local.get $at) (local.get $code))
    (call $count (i32.add (i32.const 34304) (i32.shl (local.get $code) (i32.const 2))))
    (global.set $sequences (i32.add (local.get $at) (i32.const 1))))

  ;; Where the position of the five bytes at $at is kept.
  (func $slot (param $at i32) (result i32)
    (i32.add (i32.const 458752) (i32.shl (i32.wrap_i64 (i64.shr_u
      (i64.mul (i64.shl (i64.load (local.get $at)) (i64.const 24)) (i64.const 889523592379))
      (i64.const 49))) (i32.const 1))))

  ;; Divides $size bytes of content into literals and matches with what came before them, and counts
  ;; both. Returns the number of sequences; `literal` is where the literals end.
  (func (export "find") (param $size i32) (result i32)
    (local $at i32) (local $anchor i32) (local $stop i32) (local $limit i32) (local $slot i32)
    (local $from i32) (local $near i32) (local $second i32) (local $offset i32) (local $match i32)
    (local $start i32)
    (memory.fill (i32.const 32768) (i32.const 0) (i32.const 1792))
    (memory.fill (i32.const 458752) (i32.const 0) (i32.const 65536))
    (global.set $literal (i32.const 65536))
    (global.set $sequences (i32.const 0))
    (local.set $near (i32.const 1))
    (local.set $second (i32.const 4))
    (local.set $anchor (i32.const 327680))
    (local.set $at (i32.const 327681))
    (local.set $stop (i32.add (i32.const 327680) (local.get $size)))
    ;; Nine bytes are looked at.
    (local.set $limit (i32.sub (local.get $stop) (i32.const 9)))
    (block $done
      (loop $next
        (br_if $done (i32.gt_s (local.get $at) (local.get $limit)))
        (local.set $slot (call $slot (local.get $at)))
        (local.set $from (i32.add (i32.const 327680) (i32.load16_u (local.get $slot))))
        (i32.store16 (local.get $slot) (i32.sub (local.get $at) (i32.const 327680)))
        (local.set $start (i32.add (local.get $at) (i32.const 1)))
        (if (i32.and
            (i32.ge_u (i32.sub (local.get $start) (local.get $near)) (i32.const 327680))
            (i32.eq (i32.load (local.get $start))
              (i32.load (i32.sub (local.get $start) (local.get $near)))))
          (then
            (local.set $from (i32.sub (local.get $start) (local.get $near)))
            (local.set $offset (i32.const 1)))
          (else
            (if (i32.ne (i32.load (local.get $from)) (i32.load (local.get $at))) (then
              (local.set $at (i32.add (local.get $start)
                (i32.shr_u (i32.sub (local.get $at) (local.get $anchor)) (i32.const 7))))
              (br $next)))
            (local.set $start (local.get $at))
            (local.set $second (local.get $near))
            (local.set $near (i32.sub (local.get $at) (local.get $from)))
            (local.set $offset (i32.add (local.get $near) (i32.const 3)))
            (block $begun
              (loop $back
                (br_if $begun (i32.le_u (local.get $start) (local.get $anchor)))
                (br_if $begun (i32.le_u (local.get $from) (i32.const 327680)))
                (br_if $begun (i32.ne
                  (i32.load8_u (i32.sub (local.get $start) (i32.const 1)))
                  (i32.load8_u (i32.sub (local.get $from) (i32.const 1)))))
                (local.set $start (i32.sub (local.get $start) (i32.const 1)))
                (local.set $from (i32.sub (local.get $from) (i32.const 1)))
                (br $back)))))
        (local.set $match (call $same (local.get $start) (local.get $from) (local.get $stop)))
        (call $add (local.get $anchor) (i32.sub (local.get $start) (local.get $anchor))
          (local.get $match) (local.get $offset))
        (local.set $anchor (i32.add (local.get $start) (local.get $match)))
        (br_if $done (i32.gt_s (local.get $anchor) (local.get $limit)))
        (local.set $at (i32.add (local.get $start) (i32.const 2)))
        (i32.store16 (call $slot (local.get $at)) (i32.sub (local.get $at) (i32.const 327680)))
        (local.set $at (i32.sub (local.get $anchor) (i32.const 2)))
        (i32.store16 (call $slot (local.get $at)) (i32.sub (local.get $at) (i32.const 327680)))
        (local.set $at (local.get $anchor))
        ;; What follows at once may repeat the distance before the last.
        (loop $again
          (if (i32.and
              (i32.ge_u (i32.sub (local.get $at) (local.get $second)) (i32.const 327680))
              (i32.eq (i32.load (local.get $at))
                (i32.load (i32.sub (local.get $at) (local.get $second)))))
            (then
              (local.set $from (i32.sub (local.get $at) (local.get $second)))
              (local.set $second (local.get $near))
              (local.set $near (i32.sub (local.get $at) (local.get $from)))
              (i32.store16 (call $slot (local.get $at)) (i32.sub (local.get $at) (i32.const 327680)))
              (local.set $match (call $same (local.get $at) (local.get $from) (local.get $stop)))
              (call $add (local.get $at) (i32.const 0) (local.get $match) (i32.const 1))
              (local.set $at (i32.add (local.get $at) (local.get $match)))
              (local.set $anchor (local.get $at))
              (br_if $done (i32.gt_s (local.get $at) (local.get $limit)))
              (br $again))))
        (br $next)))
    (if (i32.lt_u (local.get $anchor) (local.get $stop)) (then
      (call $copy (local.get $anchor) (global.get $literal)
        (i32.add (global.get $literal) (i32.sub (local.get $stop) (local.get $anchor))))
      (global.set $literal
        (i32.add (global.get $literal) (i32.sub (local.get $stop) (local.get $anchor))))))
    (local.set $at (i32.const 65536))
    (block $counted
      (loop $each
        (br_if $counted (i32.ge_u (local.get $at) (global.get $literal)))
        (call $count (i32.add (i32.const 32768) (i32.shl (i32.load8_u (local.get $at)) (i32.const 2))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $each)))
    (global.get $sequences))

  ;; Writes the literals from $from to $stop as one Huffman stream, the last one first. Returns its end.
  (func $code (param $from i32) (param $stop i32) (param $to i32) (result i32)
    (local $word i64) (local $bits i64) (local $entry i32)
    (block $slow
      (loop $next
        (br_if $slow (i32.lt_u (local.get $stop) (i32.add (local.get $from) (i32.const 4))))
        (local.set $stop (i32.sub (local.get $stop) (i32.const 4)))
        (local.set $entry (i32.load offset=16384
          (i32.shl (i32.load8_u offset=3 (local.get $stop)) (i32.const 2))))
        (local.set $word (i64.or (local.get $word) (i64.shl
          (i64.extend_i32_u (i32.and (local.get $entry) (i32.const 65535))) (local.get $bits))))
        (local.set $bits (i64.add (local.get $bits)
          (i64.extend_i32_u (i32.shr_u (local.get $entry) (i32.const 16)))))
        (local.set $entry (i32.load offset=16384
          (i32.shl (i32.load8_u offset=2 (local.get $stop)) (i32.const 2))))
        (local.set $word (i64.or (local.get $word) (i64.shl
          (i64.extend_i32_u (i32.and (local.get $entry) (i32.const 65535))) (local.get $bits))))
        (local.set $bits (i64.add (local.get $bits)
          (i64.extend_i32_u (i32.shr_u (local.get $entry) (i32.const 16)))))
        (local.set $entry (i32.load offset=16384
          (i32.shl (i32.load8_u offset=1 (local.get $stop)) (i32.const 2))))
        (local.set $word (i64.or (local.get $word) (i64.shl
          (i64.extend_i32_u (i32.and (local.get $entry) (i32.const 65535))) (local.get $bits))))
        (local.set $bits (i64.add (local.get $bits)
          (i64.extend_i32_u (i32.shr_u (local.get $entry) (i32.const 16)))))
        (local.set $entry (i32.load offset=16384
          (i32.shl (i32.load8_u (local.get $stop)) (i32.const 2))))
        (local.set $word (i64.or (local.get $word) (i64.shl
          (i64.extend_i32_u (i32.and (local.get $entry) (i32.const 65535))) (local.get $bits))))
        (local.set $bits (i64.add (local.get $bits)
          (i64.extend_i32_u (i32.shr_u (local.get $entry) (i32.const 16)))))
        (i64.store (local.get $to) (local.get $word))
        (local.set $to (i32.add (local.get $to) (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 3)))))
        (local.set $word (i64.shr_u (local.get $word) (i64.and (local.get $bits) (i64.const 56))))
        (local.set $bits (i64.and (local.get $bits) (i64.const 7)))
        (br $next)))
    (block $done
      (loop $one
        (br_if $done (i32.le_u (local.get $stop) (local.get $from)))
        (local.set $stop (i32.sub (local.get $stop) (i32.const 1)))
        (local.set $entry (i32.load offset=16384
          (i32.shl (i32.load8_u (local.get $stop)) (i32.const 2))))
        (local.set $word (i64.or (local.get $word) (i64.shl
          (i64.extend_i32_u (i32.and (local.get $entry) (i32.const 65535))) (local.get $bits))))
        (local.set $bits (i64.add (local.get $bits)
          (i64.extend_i32_u (i32.shr_u (local.get $entry) (i32.const 16)))))
        (br $one)))
    ;; A set bit marks the end.
    (i64.store (local.get $to) (i64.or (local.get $word) (i64.shl (i64.const 1) (local.get $bits))))
    (i32.add (local.get $to)
      (i32.add (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 3))) (i32.const 1))))

  ;; Writes all $size literals at $at, as one stream or as four with their lengths before them. Returns
  ;; where they end.
  (func (export "huffman") (param $size i32) (param $at i32) (param $four i32) (result i32)
    (local $quarter i32) (local $from i32) (local $to i32) (local $end i32) (local $each i32)
    (if (i32.eqz (local.get $four)) (then
      (return (call $code (i32.const 65536) (i32.add (i32.const 65536) (local.get $size))
        (local.get $at)))))
    (local.set $quarter (i32.shr_u (i32.add (local.get $size) (i32.const 3)) (i32.const 2)))
    (local.set $from (i32.const 65536))
    (local.set $to (i32.add (local.get $at) (i32.const 6)))
    (loop $next
      (local.set $end (call $code (local.get $from)
        (i32.add (local.get $from) (local.get $quarter)) (local.get $to)))
      (i32.store16 (i32.add (local.get $at) (i32.shl (local.get $each) (i32.const 1)))
        (i32.sub (local.get $end) (local.get $to)))
      (local.set $to (local.get $end))
      (local.set $from (i32.add (local.get $from) (local.get $quarter)))
      (local.set $each (i32.add (local.get $each) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $each) (i32.const 3))))
    (call $code (local.get $from) (i32.add (i32.const 65536) (local.get $size)) (local.get $to)))

  (global $word (mut i64) (i64.const 0))
  (global $bits (mut i64) (i64.const 0))

  ;; Adds the lowest $count bits of $value, at most 31, to those that wait to be written.
  (func $put (param $value i32) (param $count i32)
    (local $width i64)
    (local.set $width (i64.extend_i32_u (local.get $count)))
    (global.set $word (i64.or (global.get $word) (i64.shl
      (i64.and (i64.extend_i32_u (local.get $value))
        (i64.sub (i64.shl (i64.const 1) (local.get $width)) (i64.const 1)))
      (global.get $bits))))
    (global.set $bits (i64.add (global.get $bits) (local.get $width))))

  ;; Writes whole bytes of those that wait. Returns what comes behind them.
  (func $flush (param $to i32) (result i32)
    (i64.store (local.get $to) (global.get $word))
    (local.set $to (i32.add (local.get $to)
      (i32.wrap_i64 (i64.shr_u (global.get $bits) (i64.const 3)))))
    (global.set $word (i64.shr_u (global.get $word) (i64.and (global.get $bits) (i64.const 56))))
    (global.set $bits (i64.and (global.get $bits) (i64.const 7)))
    (local.get $to))

  ;; The state from which $code is read last, by the tables $states and $changes.
  (func $first (param $code i32) (param $states i32) (param $changes i32) (result i32)
    (local $at i32) (local $add i32) (local $count i32)
    (local.set $at (i32.add (local.get $changes) (i32.shl (local.get $code) (i32.const 3))))
    (local.set $add (i32.load (local.get $at)))
    (local.set $count
      (i32.shr_u (i32.add (local.get $add) (i32.const 32768)) (i32.const 16)))
    (i32.load16_u (i32.add (local.get $states) (i32.shl (i32.add (i32.load offset=4 (local.get $at))
      (i32.shr_u (i32.sub (i32.shl (local.get $count) (i32.const 16)) (local.get $add))
        (local.get $count))) (i32.const 1)))))

  ;; Puts the bits by which a reader of $code gets to $state, and returns the state before.
  (func $before (param $state i32) (param $code i32) (param $states i32) (param $changes i32)
      (result i32)
    (local $at i32) (local $count i32)
    (local.set $at (i32.add (local.get $changes) (i32.shl (local.get $code) (i32.const 3))))
    (local.set $count
      (i32.shr_u (i32.add (local.get $state) (i32.load (local.get $at))) (i32.const 16)))
    (call $put (local.get $state) (local.get $count))
    (i32.load16_u (i32.add (local.get $states) (i32.shl (i32.add (i32.load offset=4 (local.get $at))
      (i32.shr_u (local.get $state) (local.get $count))) (i32.const 1)))))

  ;; Puts what the codes of sequence $at leave open.
  (func $rest (param $at i32)
    (local $sequence i32)
    (local.set $sequence (i32.shl (local.get $at) (i32.const 3)))
    (call $put (i32.load16_u offset=524288 (local.get $sequence))
      (i32.load8_u offset=35072 (i32.load8_u offset=720896 (local.get $at))))
    (call $put (i32.load16_u offset=524290 (local.get $sequence))
      (i32.load8_u offset=35136 (i32.load8_u offset=753664 (local.get $at))))
    (call $put (i32.load offset=524292 (local.get $sequence))
      (i32.load8_u offset=737280 (local.get $at))))

  ;; Writes the bit stream of all $count sequences at $to, the last one first, and returns its end.
  (func (export "sequences") (param $count i32) (param $to i32) (param $widths i32) (result i32)
    (local $at i32) (local $run i32) (local $offset i32) (local $match i32)
    (global.set $word (i64.const 0))
    (global.set $bits (i64.const 0))
    (local.set $at (i32.sub (local.get $count) (i32.const 1)))
    (local.set $match (call $first (i32.load8_u offset=753664 (local.get $at))
      (i32.const 24576) (i32.const 27648)))
    (local.set $offset (call $first (i32.load8_u offset=737280 (local.get $at))
      (i32.const 22528) (i32.const 27136)))
    (local.set $run (call $first (i32.load8_u offset=720896 (local.get $at))
      (i32.const 20480) (i32.const 26624)))
    (call $rest (local.get $at))
    (local.set $to (call $flush (local.get $to)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $at)))
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (local.set $offset (call $before (local.get $offset)
          (i32.load8_u offset=737280 (local.get $at)) (i32.const 22528) (i32.const 27136)))
        (local.set $match (call $before (local.get $match)
          (i32.load8_u offset=753664 (local.get $at)) (i32.const 24576) (i32.const 27648)))
        (local.set $run (call $before (local.get $run)
          (i32.load8_u offset=720896 (local.get $at)) (i32.const 20480) (i32.const 26624)))
        (local.set $to (call $flush (local.get $to)))
        (call $rest (local.get $at))
        (local.set $to (call $flush (local.get $to)))
        (br $next)))
    (call $put (local.get $match) (i32.shr_u (local.get $widths) (i32.const 8)))
    (call $put (local.get $offset)
      (i32.and (i32.shr_u (local.get $widths) (i32.const 4)) (i32.const 15)))
    (call $put (local.get $run) (i32.and (local.get $widths) (i32.const 15)))
    (call $put (i32.const 1) (i32.const 1))
    (local.set $to (call $flush (local.get $to)))
    (i32.add (local.get $to) (i64.ne (global.get $bits) (i64.const 0))))
)
