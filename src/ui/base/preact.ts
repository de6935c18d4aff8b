/**
 * Re-exports the components, hooks and types of preact that the page uses. No other file imports
 * preact.
 */
export { Component, type ComponentChildren, Fragment, render } from 'preact';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
