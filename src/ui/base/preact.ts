/**
 * Re-exports what the page uses of preact: components, hooks and types. No other file imports it.
 */
export { Component, type ComponentChildren, Fragment, render } from 'preact';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
