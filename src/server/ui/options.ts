/**
 * Defines and checks the options of the browser page (`UiOptions`). `uiOptions` returns undefined
 * if the page is off. Unknown members throw InvalidInput. So does a ticket with a token of fewer
 * than 32 characters, which somebody could guess.
 */
import { DirspaceError } from '../../errors.ts';
import type { Credentials } from '../auth/index.ts';
import { object, text } from '../settings/index.ts';

/** Opens one session without asking for a key: `/ui/?ticket=TOKEN`, once. */
export interface UiTicket {
  /** At least 32 characters that cannot be guessed. */
  readonly token: string;
  /** The credentials that the session has, which `auth` must know. */
  readonly credentials: Credentials;
}

/** What the page is served with. */
export interface UiOptions {
  readonly ticket?: UiTicket;
}

const LEAST_TOKEN = 32;

/** The options where the page is to be served; undefined where it is not. @throws InvalidInput */
export function uiOptions(value: boolean | UiOptions | undefined): UiOptions | undefined {
  if (value === undefined || value === false) return undefined;
  if (value === true) return {};
  const { ticket } = object(value, 'ui', ['ticket']) as UiOptions;
  if (ticket === undefined) return {};
  const { token } = object(ticket, 'ui.ticket', ['token', 'credentials']);
  if (text(token, 'ui.ticket.token').length < LEAST_TOKEN) {
    throw new DirspaceError(
      'InvalidInput',
      `ui.ticket.token is shorter than ${LEAST_TOKEN} characters, so that it could be guessed.`,
    );
  }
  return { ticket };
}
