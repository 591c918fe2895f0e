/**
 * A program that does with scripts as deep as they can be all that a node does before it runs them.
 * It ends with an error where the stack is not enough (stack.test.ts starts it with a small one).
 *
 *   trees | sources
 */
import { nameProblem } from '../../src/script/language/declared-names.ts';
import { ScriptError, type Tree } from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import { signatureUses } from '../../src/script/signature-uses.ts';
import { sourceText } from '../../src/script/text/source-text.ts';
import { treeText } from '../../src/script/text/tree-text.ts';
import { binaryOf, deepSources, deepTrees } from '../generators/dear-scripts.ts';
import { family } from '../generators/network.ts';

const scripts = createScripts(family.secureHash);

function lookAt(tree: Tree): void {
  treeText(tree);
  signatureUses(tree);
  nameProblem(tree);
  sourceText(tree, 1);
}

/** Whether the script is good does not matter here, only that this is what is found. */
function judge(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
  }
}

const kind = process.argv[2];
let count = 0;
if (kind === 'trees') {
  for (const make of Object.values(deepTrees)) {
    const tree = make();
    const bytes = binaryOf(tree);
    judge(() => scripts.read(bytes));
    lookAt(tree);
    count++;
  }
} else {
  for (const make of Object.values(deepTrees)) {
    judge(() => createScripts(family.secureHash).decompile(binaryOf(make())));
  }
  for (const make of Object.values(deepSources)) {
    judge(() => scripts.decompile(scripts.compile(make(), 'account').bytes));
    count++;
  }
}
console.log(`${count} ${kind}`);
