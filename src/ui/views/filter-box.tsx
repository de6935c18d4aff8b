/**
 * `FilterBox` is an input for an SQL predicate, with completions (completion-list.tsx). Enter
 * filters. The error of the server is shown below.
 */

import { type Column, useEffect, useRef, useState } from '../base/index.ts';
import { useCompletion } from './completion-list.tsx';
import { completions, wordBefore } from './completions.ts';

export interface FilterBoxProps {
  readonly value: string;
  readonly columns: readonly Column[];
  readonly error: string | undefined;
  readonly onSubmit: (text: string) => void;
}

export function FilterBox({ value, columns, error, onSubmit }: FilterBoxProps) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  const completion = useCompletion({
    name: 'filter',
    field: input,
    text,
    setText,
    offer: (typed, caret) => completions(typed, caret, columns),
    from: (typed, caret) => wordBefore(typed, caret).from,
  });
  const submit = (): void => {
    completion.open(false);
    onSubmit(text.trim());
  };
  return (
    <div class="filter">
      <div class="filter-line">
        <label for="filter">where</label>
        <input
          id="filter"
          ref={input}
          class={error === undefined ? 'code' : 'code wrong'}
          role="combobox"
          aria-expanded={completion.isOffering}
          {...completion.attributes}
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : 'filter-error'}
          autocomplete="off"
          spellcheck={false}
          placeholder="an SQL condition, such as age > 30 AND name LIKE 'a%'"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            completion.open(true);
          }}
          onKeyDown={(event) => {
            if (completion.onKeyDown(event) || event.key !== 'Enter') return;
            event.preventDefault();
            submit();
          }}
          onBlur={() => completion.open(false)}
        />
        <button type="button" onClick={submit}>
          Filter
        </button>
        {value === '' ? null : (
          <button type="button" onClick={() => onSubmit('')}>
            Clear
          </button>
        )}
      </div>
      {completion.list}
      {error === undefined ? null : (
        <pre id="filter-error" class="error" role="alert">
          {error}
        </pre>
      )}
    </div>
  );
}
