/** What shells complete, in the shells that are there. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { wordsOfLine } from '../../src/cli/service/completion.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { connect } from '../../src/sdk/connect.ts';
import { callCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
/** Has a `dirspace`, and a file to complete. */
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder();
  root = join(folder, 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['prod']);
  await db.createNamespace(['prod', 'search']);
  await db.createTable('user', [{ n: 1 }], ['prod']);
  await db.createTable('notes', [{ n: 1 }]);
  await db.close();
  writeFileSync(join(folder, 'rows.ndjson'), '');
  mkdirSync(join(folder, 'bin'));
  const program = join(folder, 'bin', 'dirspace');
  const main = fileURLToPath(compiledModule('cli/main.js'));
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
}, 300_000);

async function words(...typed: string[]): Promise<string[]> {
  const env = { DIRSPACE_URI: root };
  const { code, out, error } = await callCli(['completion', 'words', '--', ...typed], { env });
  expect({ code, error }).toEqual({ code: EXIT.ok, error: '' });
  return out.split('\n').filter((word) => word !== '');
}

describe('what may stand at the cursor', () => {
  test('commands, and the options of one', async () => {
    expect(await words('')).toEqual(COMMANDS.map(({ name }) => name));
    expect(await words('re')).toEqual(['restore', 'rename', 'repair']);
    expect(await words('--root', '/x', 'ver')).toEqual(['verify']);
    expect(await words('head', '--r')).toEqual(['--rows', '--root']);
    expect(await words('drop', '-')).toEqual(
      expect.arrayContaining(['--cascade', '-y', '--yes', '--json', '--uri', '--help']),
    );
  });

  test('ids, in the catalog that is typed', async () => {
    expect(await words('describe', '')).toEqual(['prod/', 'notes']);
    expect(await words('describe', 'pro')).toEqual(['prod/']);
    expect(await words('query', 'prod/')).toEqual(['prod/search/', 'prod/user']);
    expect(await words('query', 'prod$u')).toEqual(['prod$user']);
    expect(await words('rename', 'prod/user', 'prod/s')).toEqual(['prod/search/']);
    expect(await words('tag', 'ls', 'no')).toEqual(['notes']);
    for (const place of [
      ['--root', '/nowhere'],
      ['--root=/nowhere'],
      ['--uri', 'http://127.0.0.1:1'],
    ]) {
      expect(await words(...place, 'describe', '')).toEqual([]);
    }
    expect(await words('describe', '--json', 'no')).toEqual(['notes']);
    expect(await words('head', '-n', '3', 'no')).toEqual(['notes']);
    expect(await words('describe', 'missing/')).toEqual([]);
  });

  test('the words that an argument or an option takes, and files', async () => {
    expect(await words('trash', '')).toEqual(['ls', 'restore', 'empty']);
    expect(await words('branch', 'c')).toEqual(['create']);
    expect(await words('import', 'x.json', 't', '--mode', 'a')).toEqual(['append']);
    expect(await words('ls', '--sort', '')).toContain('bytes');
    expect(await words('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await words('import', '')).toEqual([':files']);
    expect(await words('import', 'x.json', 't', '--schema', '')).toEqual([':files']);
    expect(await words('--root', '')).toEqual([':files']);
    expect(await words('query', 'notes', '')).toEqual([]);
    expect(await words('head', '-n', '')).toEqual([]);
    expect(await words('nonsense', '')).toEqual(COMMANDS.map(({ name }) => name));
  });
});

test('there is a script for each shell, and for no other', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out, error } = await callCli(['completion', shell]);
    expect({ code, error }).toEqual({ code: EXIT.ok, error: '' });
    expect(out).toMatch(/dirspace completion (words|line) -- /);
  }
  for (const other of ['csh', 'constructor', 'toString']) {
    expect(await callCli(['completion', other])).toMatchObject({ code: EXIT.usage, out: '' });
  }
  expect(await callCli(['completion', 'bash', 'x'])).toMatchObject({ code: EXIT.usage, out: '' });
});

const has = (shell: string, script = 'true'): boolean => {
  try {
    execFileSync(shell, ['-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

function inShell(shell: string, args: string[], script: string): string[] {
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    DIRSPACE_URI: root,
    HOME: folder,
  };
  const out = execFileSync(shell, [...args, '-c', script], { cwd: folder, env, encoding: 'utf8' });
  return out.trimEnd().split('\n').sort();
}

test.each([
  ['dirspace ls pr', ['dirspace', 'ls', 'pr']],
  ['dirspace ls ', ['dirspace', 'ls', '']],
  ['dirspace  --root=/a/b  ls', ['dirspace', '--root=/a/b', 'ls']],
  ['dirspace --uri http://h:1 x', ['dirspace', '--uri', 'http://h:1', 'x']],
  ["dirspace --root 'my cat' 'a b", ['dirspace', '--root', 'my cat', 'a b']],
  ['dirspace --root "my \\"cat\\"" "a b', ['dirspace', '--root', 'my "cat"', 'a b']],
  ['dirspace --root my\\ cat\\', ['dirspace', '--root', 'my cat']],
  ['d ~/cat "~" a~', ['d', '/home/ada/cat', '~', 'a~']],
  [`d $ROOM/x "\${ROOM}" '$ROOM' prod$user`, ['d', '/r/x', '/r', '$ROOM', 'prod$user']],
  ['', ['']],
])('the words of %j', (line, words) => {
  expect(wordsOfLine(line, { HOME: '/home/ada', ROOM: '/r' })).toEqual(words);
});

/** What a real shell of a terminal makes of a line and a tabulator. */
function typedInTerminal(shell: string, args: string[], setup: string, line: string): string {
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    DIRSPACE_URI: root,
    HOME: folder,
    TERM: 'dumb',
  };
  const ask = `import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:-3])
def until(mark, most):
    got, end = b'', time.time() + most
    while mark not in got and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try: got += os.read(fd, 65536)
            except OSError: break
    return got
setup, line, mark = sys.argv[-3:]
os.write(fd, (setup + "; echo set''up\\n").encode())
until(b'setup', 60)
os.write(fd, ('echo ' + "be''gin\\n").encode())
until(b'begin', 60)
os.write(fd, (line + '\\t').encode())
sys.stdout.buffer.write(until(mark.encode(), 60))
os.close(fd)
os.kill(pid, 9)
`;
  return execFileSync('python3', ['-c', ask, shell, ...args, setup, ...line.split('|')], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
}

test.skipIf(!has('bash') || !has('python3', 'import pty'))(
  'bash on a terminal, with quotes and signs',
  () => {
    const complete = (line: string, expected: string): void => {
      const shown = typedInTerminal(
        'bash',
        ['--norc', '--noprofile', '-i'],
        'bind "set enable-bracketed-paste off"; source <(dirspace completion bash)',
        `${line}|${expected}`,
      );
      expect(shown).toContain(expected);
    };
    cpSync(root, join(folder, 'my cat'), { recursive: true });
    complete('dirspace desc', 'describe ');
    complete('dirspace ls --root "my cat" no', 'notes ');
    complete('dirspace ls --root my\\ cat/ no', 'notes ');
    complete(`dirspace --root=${root} describe prod/u`, 'prod/user ');
  },
);

test.skipIf(!has('bash'))('bash', () => {
  const complete = (...typed: string[]): string[] =>
    inShell(
      'bash',
      [],
      `source <(dirspace completion bash)
      complete -p dirspace >/dev/null || exit 1
      COMP_WORDS=(dirspace ${typed.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${typed.length}
      COMP_LINE="\${COMP_WORDS[*]}"
      COMP_POINT=\${#COMP_LINE}
      _dirspace
      printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  expect(complete('ver')).toEqual(['verify']);
  expect(complete('describe', 'prod/')).toEqual(['prod/search/', 'prod/user']);
  expect(complete('import', 'row')).toEqual(['rows.ndjson']);
  expect(complete('query', 'notes', '')).toEqual(['']);
});

test.skipIf(!has('zsh'))('zsh', () => {
  const complete = (...typed: string[]): string[] =>
    inShell(
      'zsh',
      ['-f'],
      `compdef() { registered=$2 }
      compadd() { [[ $1 == -S ]] && shift 2; shift; (( $# )) && print -l -- "$@"; return 0 }
      _files() { print files }
      source <(dirspace completion zsh)
      [[ $registered == dirspace ]] || exit 1
      words=(dirspace ${typed.map((word) => `'${word}'`).join(' ')})
      CURRENT=${typed.length + 1}
      _dirspace`,
    );
  expect(complete('ver')).toEqual(['verify']);
  expect(complete('describe', 'prod/')).toEqual(['prod/search/', 'prod/user']);
  expect(complete('import', 'row')).toEqual(['files']);
  expect(complete('query', 'notes', '')).toEqual(['']);
});

test.skipIf(!has('fish'))('fish', () => {
  const complete = (line: string): string[] =>
    inShell('fish', [], `dirspace completion fish | source; complete -C '${line}'`);
  expect(complete('dirspace ver')).toEqual(['verify']);
  expect(complete('dirspace describe prod/')).toEqual(['prod/search/', 'prod/user']);
  expect(complete('dirspace describe ')).toEqual(['notes', 'prod/']);
  expect(complete('dirspace import row')).toEqual(['rows.ndjson']);
});
