/**
 * `useCompletion` is a hook that offers words at the caret of a text field in a list. The field
 * calls the hook's `open` with true after each input, and with false when it loses the focus. The
 * up and down arrows choose a word, Tab or Enter accepts it, and Escape closes the list. In a field
 * of several lines, Enter accepts only after an arrow key. The hook also returns the list, the
 * attributes by which the field names it to screen readers, and a key handler that tells whether it
 * used a key.
 */
import { useLayoutEffect, useRef, useState } from '../base/index.ts';

type Field = HTMLInputElement | HTMLTextAreaElement;

export interface CompletionOptions {
  /** Begins the ids of the list and its items. */
  readonly name: string;
  readonly field: { readonly current: Field | null };
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly offer: (text: string, caret: number) => readonly string[];
  /** Where the word begins that an offer is put in place of. */
  readonly from: (text: string, caret: number) => number;
}

export function useCompletion({ name, field, text, setText, offer, from }: CompletionOptions) {
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [isMoved, setMoved] = useState(false);
  /** Where the caret belongs once the text with the accepted word is in the field. */
  const wanted = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    // Not with the next frame: what is typed until then would be put elsewhere.
    if (wanted.current !== undefined)
      field.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
  }, [text]);
  const caret = field.current?.selectionStart ?? text.length;
  const offered = isOpen ? offer(text, caret) : [];
  const count = offered.length;
  const active = Math.min(chosen, count - 1);
  const open = (opened: boolean): void => {
    setOpen(opened);
    setChosen(0);
    setMoved(false);
  };
  const choose = (word: string): void => {
    const start = from(text, caret);
    setText(text.slice(0, start) + word + text.slice(caret));
    open(false);
    wanted.current = start + word.length;
  };
  const move = (step: number): void => {
    setChosen((active + step + count) % count);
    setMoved(true);
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const { key, shiftKey, ctrlKey, metaKey } = event;
    const isLines = field.current?.tagName === 'TEXTAREA';
    if (count === 0 || ctrlKey || metaKey) return false;
    if (key === 'Escape') open(false);
    else if (key === 'ArrowDown') move(1);
    else if (key === 'ArrowUp') move(-1);
    else if (!shiftKey && (key === 'Tab' || (key === 'Enter' && (isMoved || !isLines)))) {
      choose(offered[active] as string);
    } else {
      // The caret leaves the word that the list is for.
      if (/^(Enter|Tab|Home|End|Page|Arrow)/.test(key)) open(false);
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  /** Where the word is, in lines and characters; a field of one line has its list at its left. */
  const before = text.slice(0, from(text, caret)).split('\n');
  const place =
    field.current?.tagName === 'TEXTAREA'
      ? {
          left: `min(${(before.at(-1) ?? '').length}ch, 100% - 220px)`,
          top: `calc(${before.length * 1.45}em + 6px - ${field.current.scrollTop}px)`,
        }
      : {};
  return {
    attributes: {
      'aria-autocomplete': 'list',
      'aria-controls': `${name}-words`,
      'aria-activedescendant': count > 0 ? `${name}-word-${active}` : undefined,
    } as const,
    isOffering: count > 0,
    open,
    onKeyDown,
    list: (
      <ul
        id={`${name}-words`}
        class="words"
        style={place}
        role="listbox"
        aria-label="Completions"
        hidden={count === 0}
      >
        {offered.map((word, at) => (
          <li
            key={word}
            id={`${name}-word-${at}`}
            role="option"
            aria-selected={at === active}
            class={at === active ? 'active' : ''}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(word);
            }}
          >
            {word}
          </li>
        ))}
      </ul>
    ),
  };
}
