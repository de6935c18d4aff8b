;; Looks up texts of up to 16 bytes among those that came last, block by block, and keeps new ones
;; there. Knows only bytes in its own memory. `npm run build:wasm` assembles this file into
;; recent.wasm.ts.
;;
;; The memory has 17 masks at 0, of which the one of length n keeps n bytes; for up to 4,096 texts
;; where they start at 4,096, where they end at 20,480 and their numbers at 36,864; which of them
;; were not found at 53,248; 8,192 entries of 32 bytes at 131,072; and the bytes of the texts at
;; 393,216 (256 KiB). Starts and ends count from `base`: byte `base` of a column lies at 393,216.
;; An entry is the text with zeros behind it, its length, the owner of its number, and the number.
(module
  (memory (export "memory") 11 11)

  ;; Gives the numbers of `rows` texts, all of whose bytes are the first `bytes` ones; 0 for those
  ;; that are not found, whose rows it lists. The result is how many these are.
  (func (export "find") (param $rows i32) (param $base i32) (param $bytes i32) (param $owner i32)
      (result i32)
    (local $at i32) (local $end i32) (local $start i32) (local $length i32) (local $entry i32)
    (local $missed i32) (local $text v128) (local $owned i64) (local $tag i64)
    (local $number i32)
    (local.set $owned (i64.shl (i64.extend_i32_u (local.get $owner)) (i64.const 32)))
    (local.set $end (i32.shl (local.get $rows) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $number (i32.const 0))
        (local.set $start (i32.sub (i32.load offset=4096 (local.get $at)) (local.get $base)))
        (local.set $length
          (i32.sub (i32.sub (i32.load offset=20480 (local.get $at)) (local.get $base)) (local.get $start)))
        (if (i32.and
            (i32.and
              (i32.le_u (local.get $start) (local.get $bytes))
              (i32.le_u (local.get $length) (i32.const 16)))
            (i32.le_u (i32.add (local.get $start) (local.get $length)) (local.get $bytes)))
          (then
            (local.set $text (v128.and
              (v128.load offset=393216 (local.get $start))
              (v128.load (i32.shl (local.get $length) (i32.const 4)))))
            (local.set $tag
              (i64.or (local.get $owned) (i64.extend_i32_u (local.get $length))))
            (local.set $entry (i32.and (i32.const 262112) (i32.wrap_i64 (i64.shr_u
              (i64.mul (i64.const 0x9e3779b97f4a7c15)
                (i64.xor (local.get $tag)
                  (i64.xor (i64x2.extract_lane 0 (local.get $text))
                    (i64.rotl (i64x2.extract_lane 1 (local.get $text)) (i64.const 23)))))
              (i64.const 46)))))
            (if (i64.eq (i64.load offset=131088 (local.get $entry)) (local.get $tag))
              (then
                (if (i32.eqz (v128.any_true
                    (v128.xor (local.get $text) (v128.load offset=131072 (local.get $entry)))))
                  (then
                    (local.set $number (i32.load offset=131096 (local.get $entry)))))))))
        (i32.store offset=36864 (local.get $at) (local.get $number))
        (i32.store offset=53248 (local.get $missed) (i32.shr_u (local.get $at) (i32.const 2)))
        (local.set $missed
          (i32.add (local.get $missed) (i32.shl (i32.eqz (local.get $number)) (i32.const 2))))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $next)))
    (i32.shr_u (local.get $missed) (i32.const 2)))

  ;; Keeps the texts of the first `count` rows that are listed and have got numbers since.
  (func (export "keep") (param $count i32) (param $base i32) (param $bytes i32) (param $owner i32)
    (local $at i32) (local $end i32) (local $row i32) (local $start i32) (local $length i32)
    (local $entry i32) (local $text v128) (local $number i32) (local $tag i64)
    (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $row (i32.shl (i32.load offset=53248 (local.get $at)) (i32.const 2)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (local.set $number (i32.load offset=36864 (local.get $row)))
        (br_if $next (i32.eqz (local.get $number)))
        (local.set $start (i32.sub (i32.load offset=4096 (local.get $row)) (local.get $base)))
        (local.set $length
          (i32.sub (i32.sub (i32.load offset=20480 (local.get $row)) (local.get $base)) (local.get $start)))
        (br_if $next (i32.gt_u (local.get $start) (local.get $bytes)))
        (br_if $next (i32.gt_u (local.get $length) (i32.const 16)))
        (br_if $next (i32.gt_u (i32.add (local.get $start) (local.get $length)) (local.get $bytes)))
        (local.set $text (v128.and
          (v128.load offset=393216 (local.get $start))
          (v128.load (i32.shl (local.get $length) (i32.const 4)))))
        (local.set $tag (i64.or
          (i64.shl (i64.extend_i32_u (local.get $owner)) (i64.const 32))
          (i64.extend_i32_u (local.get $length))))
        (local.set $entry (i32.and (i32.const 262112) (i32.wrap_i64 (i64.shr_u
          (i64.mul (i64.const 0x9e3779b97f4a7c15)
            (i64.xor (local.get $tag)
              (i64.xor (i64x2.extract_lane 0 (local.get $text))
                (i64.rotl (i64x2.extract_lane 1 (local.get $text)) (i64.const 23)))))
          (i64.const 46)))))
        (v128.store offset=131072 (local.get $entry) (local.get $text))
        (i64.store offset=131088 (local.get $entry) (local.get $tag))
        (i32.store offset=131096 (local.get $entry) (local.get $number))
        (br $next)))))
