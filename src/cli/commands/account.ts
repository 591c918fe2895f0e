/** `platform-node account <address|alias>`: the state of an account, from a running node. */
import type { Command } from 'commander';
import type { Client } from '../../rest-framework/client.ts';
import { type NodeFlags, nodeOptions } from '../node-options.ts';

export function register(command: Command): void {
  nodeOptions(command)
    .argument('<account>', 'address, or an alias as a name or as alias:<network>:<name>')
    .addHelpText(
      'after',
      '\nPrints balances, assets, roles in force, aliases, active leases and the number of data\n' +
        'entries. Leases include those it gave and those it received.',
    )
    .action(async (account: string, flags: NodeFlags) => {
      const { printAnswer } = await import('../rest-calls.ts');
      const name = aliasIn(account);
      await printAnswer(flags, async (node) =>
        accountOf(node, name === undefined ? account : await addressOf(node, name)),
      );
    });
}

const ALIAS_CHARACTERS_MAX = 30;

/** The name in `alias:T:name`, or a bare name, which is shorter than any address. */
function aliasIn(text: string): string | undefined {
  const [, name] = /^alias:.:(.*)$/.exec(text) ?? [];
  return name ?? (text.length <= ALIAS_CHARACTERS_MAX ? text : undefined);
}

async function addressOf({ call }: Client, name: string): Promise<string> {
  const { alias } = await import('../../rest/routes/alias.ts');
  return (await call(alias.byAlias, { params: { alias: name } })).address;
}

async function accountOf({ call }: Client, address: string): Promise<unknown> {
  const { addresses } = await import('../../rest/routes/addresses.ts');
  const { alias } = await import('../../rest/routes/alias.ts');
  const { assets } = await import('../../rest/routes/assets.ts');
  const { leasing } = await import('../../rest/routes/activation.ts');
  const { permissions } = await import('../../rest/routes/permissions.ts');
  const params = { address };
  const [details, holdings, { roles }, aliases, leases, dataEntries] = await Promise.all([
    call(addresses.balanceDetails, { params }),
    call(assets.balances, { params }),
    call(permissions.now, { params }),
    call(alias.byAddress, { params }),
    call(leasing.active, { params }),
    countPages((offset, limit) => call(addresses.data, { params, query: { offset, limit } })),
  ]);
  const [balance] = Array.isArray(details) ? details : [details];
  return { ...balance, assets: holdings.balances, roles, aliases, leases, dataEntries };
}

const PAGE = 1000;

/** No endpoint counts entries, so this reads them in pages, which keep the answers small. */
async function countPages(
  page: (offset: number, limit: number) => Promise<readonly unknown[]>,
): Promise<number> {
  for (let count = 0; ; count += PAGE) {
    const { length } = await page(count, PAGE);
    if (length < PAGE) return count + length;
  }
}
