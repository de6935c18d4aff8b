/**
 * Exports the modules that all parts of the page share: preact, the address as state, requests to
 * the server and their answers, formatting of numbers and types, and small components.
 */

export { downloadAddress } from './download.ts';
export {
  bytes,
  columnsOf,
  count,
  counted,
  isVector,
  moment,
  percent,
  short,
  typeText,
} from './format.ts';
export {
  changed,
  dbOf,
  decoded,
  formatLocation,
  type Kind,
  type Location,
  parseLocation,
} from './location.ts';
export { Answered, Failure, Pairs } from './parts.tsx';
export {
  type ComponentChildren,
  Fragment,
  render,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from './preact.ts';
export {
  ABOUT,
  allPages,
  ask,
  askAhead,
  forgetAhead,
  isAborted,
  isMissing,
  isSignedOut,
  messageOf,
  signIn,
  signOut,
  useDatabase,
  whenSignedOut,
} from './server.ts';
export type {
  About,
  Column,
  Described,
  Index,
  JsonField,
  JsonType,
  Stats,
  TableFacts,
  Tag,
  Version,
} from './types.ts';
export { type Asked, useAnswer } from './use-answer.ts';
export { type Go, pinned, type ViewProps } from './view-props.ts';
