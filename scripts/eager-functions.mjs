/**
 * Marks functions for V8 to compile together with their file. It compiles a function when it is
 * first called, after having skimmed it once before; one in parentheses it compiles at once, since
 * most of these are called there and then. For functions that are called anyway that is less work,
 * and it is done before the first answer is waited for.
 */
import { parseAst } from 'rolldown/parseAst';
import { Visitor } from 'rolldown/utils';

/**
 * A plugin of rolldown for a build that differs from an earlier one in nothing else.
 * @param files as functionsRun gives them, of the earlier build
 */
export function eagerFunctions(files) {
  return {
    name: 'eager-functions',
    renderChunk(code, { fileName }, _, { magicString }) {
      const file = files.get(fileName);
      if (file === undefined) return null;
      if (!file.text.startsWith(code.trimEnd())) throw new Error(`${fileName} is another build's`);
      markEager(code, magicString, file.functions);
      return { code: magicString };
    },
  };
}

/**
 * Functions become expressions in parentheses; arrow functions, to which old V8 does not apply
 * this, become such functions where they use no `this` of their surroundings. Methods cannot.
 * @param magic the edits of `code`
 * @param functions [start, end] of each in `code`
 */
export function markEager(code, magic, functions) {
  const starts = new Map();
  for (const [start, end] of functions) starts.set(end, [...(starts.get(end) ?? []), start]);
  // Where a function begins is not the same for V8 and for the parser if it is an async one.
  const isListed = ({ start, end, body }) =>
    (starts.get(end) ?? []).some((at) => at >= start && at < body.start);
  const program = parseAst(code);
  const imports = program.body.filter(({ type }) => type === 'ImportDeclaration');
  const top = imports.at(-1)?.end ?? 0;
  for (const node of program.body) {
    if (node.type === 'FunctionDeclaration' && isListed(node)) declareAbove(node, top, code, magic);
  }
  for (const node of arrowsWithoutThis(program)) {
    if (isListed(node)) arrowAsFunction(node, code, magic);
  }
}

/** A declared function is there from the beginning of its module on, and so is its variable. */
function declareAbove({ id, start, end }, top, code, magic) {
  magic.update(start, id.end, `\nvar ${id.name} = (${code.slice(start, id.start).trimEnd()}`);
  magic.appendLeft(end, ');');
  magic.move(start, end, top);
}

const ARROW = /^,?\s*\)?\s*=>\s*$/;

function arrowAsFunction({ start, end, params, body, async }, code, magic) {
  const begin = params[0]?.start ?? start;
  const close = params.at(-1)?.end ?? code.indexOf(')', start);
  if (!ARROW.test(code.slice(close, body.start)) || body.end !== end) return;
  const isBlock = body.type === 'BlockStatement';
  const head = `(${async ? 'async ' : ''}function(`;
  const replaced = params.length > 0 ? begin : close;
  if (replaced > start) magic.update(start, replaced, head);
  else magic.appendLeft(start, head);
  magic.update(close, body.start, isBlock ? ') ' : ') { return ');
  magic.appendLeft(end, isBlock ? ')' : '; })');
}

/** Those that take no `this`, nor its like, from around them. */
function arrowsWithoutThis(program) {
  const found = [];
  const around = [];
  const enter = (node) => {
    around.push({ node, free: true });
  };
  const leave = () => {
    around.pop();
  };
  const use = () => {
    for (let at = around.length - 1; at >= 0; at--) {
      if (around[at].node.type !== 'ArrowFunctionExpression') break;
      around[at].free = false;
    }
  };
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': (node) => {
      if (around.pop().free) found.push(node);
    },
    ThisExpression: use,
    Super: use,
    MetaProperty: use,
    Identifier: ({ name }) => {
      if (name === 'arguments') use();
    },
  }).visit(program);
  return found;
}
