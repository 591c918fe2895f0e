// A refusal of the parser says what it found, and where in the source that its author sees.
import t from 'tap';
import { createScripts } from '../../../src/script/script.ts';
import { family } from '../../generators/network.ts';

const scripts = createScripts(family.secureHash);

const refusals: readonly (readonly [
  source: string,
  found: string,
  line: number,
  column: number,
])[] = [
  ['true )', "')'", 1, 6],
  ['let x = 1\n\nx = 2', "'= 2'", 3, 3],
  ['if true than false else true', "'than false else true'", 1, 9],
  ['if true then true els false', "'els false'", 1, 19],
  [`)${' '.repeat(18)}😀`, `')${' '.repeat(18)}\u{FFFD}'`, 1, 1],
  ['{-# LANGUAGE_VERSION 2 #-}\nx = 2', "'= 2'", 2, 3],
  ['# a comment\n{-# LANGUAGE_VERSION 2 #-}\n\n{-# OTHER 1 #-}\nx = 2', "'= 2'", 5, 3],
  ['{-# LANGUAGE_VERSION 2 #-}\n(true', 'the end', 2, 6],
  ['(true\n{-# LANGUAGE_VERSION 2 #-}', 'the end', 1, 6],
  ['{-# LANGUAGE_VERSION 2 #-}', 'the end', 1, 1],
];

for (const [source, found, line, column] of refusals) {
  t.test(JSON.stringify(source), async (t) => {
    const message = `Parse failed: unexpected ${found} at line ${line}, column ${column}`;
    t.throws(() => scripts.compile(source, 'account'), { message });
  });
}
