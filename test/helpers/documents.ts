/** The pages for users, README.md and docs/*.md, and the code blocks and tables in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiledModule } from './compiled.ts';

const project = join(import.meta.dirname, '..', '..');

/** A fenced block of code, with the language that its fence names. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

export interface Page {
  /** From the root of the project, such as `docs/errors.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Pages beside README.md at the root that other pages link to. */
const BESIDE = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

export function readPage(path: string): Page {
  const text = readFileSync(join(project, path), 'utf8');
  const fenced = text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  const blocks = Array.from(fenced, ([, language = '', code = '']) => ({ language, text: code }));
  return { path, text, blocks };
}

/** README.md and every page of docs/. */
export const userPages = (): Page[] => [
  readPage('README.md'),
  ...readdirSync(join(project, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => readPage(`docs/${name}`)),
];

/** Those of `userPages`, and the other documents at the root. */
export const allPages = (): Page[] => [...userPages(), ...BESIDE.map(readPage)];

/** All blocks of one language of a page, joined: later blocks continue earlier ones. */
export const codeOf = (page: Page, language: string): string =>
  page.blocks
    .filter((block) => block.language === language)
    .map(({ text }) => text)
    .join('\n');

/** A program that imports the package by its name, as one that imports the compiled sources. */
export const importCompiled = (program: string): string =>
  program.replaceAll(
    /from 'dirspace(?:\/(\w+))?'/g,
    (_, entry = 'index') => `from ${JSON.stringify(compiledModule(`${entry}.js`))}`,
  );

/** The rows of a page's tables that have `width` cells. */
export const tableRows = (page: Page, width: number): string[][] =>
  page.text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((text) => text.trim()),
    )
    .filter((row) => row.length === width && !/^-+$/.test(row[0] ?? ''));

/** The anchors of a page's headings, as GitHub and GitLab form them. */
export const anchorsOf = ({ text }: Page): string[] =>
  Array.from(text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Where the links of a page lead, as they are written; addresses on the web are left out. */
export const linksOf = ({ text }: Page): string[] =>
  Array.from(
    text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g),
    ([, to = '']) => to,
  ).filter((to) => !/^https?:/.test(to));
