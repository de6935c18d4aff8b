/**
 * `FilterBox`: an input for an SQL predicate. It offers completions in a list (completions.ts): the
 * up and down arrows select, Tab or Enter accept, Escape closes. The error of the server is shown
 * below, with the place in the text.
 */

import { type Column, useEffect, useRef, useState } from '../base/index.ts';
import { completions, wordBefore } from './completions.ts';

export interface FilterBoxProps {
  readonly value: string;
  readonly columns: readonly Column[];
  readonly error: string | undefined;
  readonly onSubmit: (text: string) => void;
}

export function FilterBox({ value, columns, error, onSubmit }: FilterBoxProps) {
  const [text, setText] = useState(value);
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);

  const caret = input.current?.selectionStart ?? text.length;
  const offered = isOpen ? completions(text, caret, columns) : [];
  const choose = (word: string): void => {
    const { from } = wordBefore(text, caret);
    const next = text.slice(0, from) + word + text.slice(caret);
    setText(next);
    setOpen(false);
    const at = from + word.length;
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
  };
  const submit = (): void => {
    setOpen(false);
    onSubmit(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const count = offered.length;
    if (event.key === 'Escape' && count > 0) {
      setOpen(false);
      event.stopPropagation();
    } else if (event.key === 'ArrowDown' && count > 0) setChosen((chosen + 1) % count);
    else if (event.key === 'ArrowUp' && count > 0) setChosen((chosen + count - 1) % count);
    else if ((event.key === 'Tab' || event.key === 'Enter') && count > 0 && !event.shiftKey) {
      choose(offered[Math.min(chosen, count - 1)] as string);
    } else if (event.key === 'Enter') submit();
    else return;
    event.preventDefault();
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
          aria-expanded={offered.length > 0}
          aria-controls="filter-words"
          aria-autocomplete="list"
          aria-activedescendant={offered.length > 0 ? `filter-word-${chosen}` : undefined}
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : 'filter-error'}
          autocomplete="off"
          spellcheck={false}
          placeholder="an SQL condition, such as age > 30 AND name LIKE 'a%'"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
            setOpen(true);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setOpen(false)}
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
      <ul
        id="filter-words"
        class="words"
        role="listbox"
        aria-label="Completions"
        hidden={offered.length === 0}
      >
        {offered.map((word, at) => (
          <li
            key={word}
            id={`filter-word-${at}`}
            role="option"
            aria-selected={at === chosen}
            class={at === chosen ? 'active' : ''}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(word);
            }}
          >
            {word}
          </li>
        ))}
      </ul>
      {error === undefined ? null : (
        <pre id="filter-error" class="error" role="alert">
          {error}
        </pre>
      )}
    </div>
  );
}
