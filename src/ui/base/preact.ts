/** The one file that imports preact: components, hooks and the types of both. */
export { Component, type ComponentChildren, Fragment, render } from 'preact';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
