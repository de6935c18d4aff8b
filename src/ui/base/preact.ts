/**
 * Re-exports the functions and types of preact that the page uses. No other file imports preact.
 */
export { type ComponentChildren, Fragment, render } from 'preact';
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
