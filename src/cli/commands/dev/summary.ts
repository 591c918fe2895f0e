/** Addresses, keys and accounts of a private network, for people and for programs. */
import type { DevNetwork } from './dev-network.ts';
import type { Running } from './dev-running.ts';

/** `running` absent: nothing answers, but keys and accounts stay the same. */
export function summaryJson(network: DevNetwork, running: Running | undefined) {
  const { accounts, chainId, crypto } = network;
  const { contracts, data } = running ?? {};
  return {
    chainId,
    crypto,
    nodes: nodesOf(network, running),
    accounts,
    ...(contracts === undefined ? {} : { contracts }),
    ...(data === undefined ? {} : { data }),
  };
}

function nodesOf({ apiKey, privacyApiKey, accounts, nodes }: DevNetwork, running?: Running) {
  return Array.from({ length: nodes }, (_, i) => ({
    ...(running === undefined ? {} : { rest: `http://127.0.0.1:${running.restPorts[i]}` }),
    apiKey,
    privacyApiKey,
    owner: accounts[i]?.address,
    // The first node's keystore has the key of its owner and the keys of accounts that own no node.
    accounts: accounts.filter((_, k) => k === i || k >= nodes).map(({ address }) => address),
  }));
}

export function summaryText(network: DevNetwork, running: Running | undefined): string {
  const { apiKey, accounts, chainId, crypto } = network;
  const nodes = nodesOf(network, running);
  const count = nodes.length === 1 ? 'one node' : `${nodes.length} nodes`;
  return `
  A private network with ${count} is ${running === undefined ? 'not ' : ''}running.
${running === undefined ? '' : placesText(running)}
  API key    ${apiKey}
  Chain id   ${chainId}
  Crypto     ${crypto}
${running === undefined ? '' : runningText(running, nodes)}
  Accounts (the first one has every role):
${accounts
  .map(({ address, seed }, i) => `    ${address}   seed: ${seed}${keyPlace(i, nodes)}\n`)
  .join('')}`;
}

function placesText({ restPorts, data }: Running): string {
  const first = `http://127.0.0.1:${restPorts[0]}`;
  return `
  REST API   ${first}          try it in a browser: ${first}/api-docs
  Explorer   ${data ?? first}/explorer${data === undefined ? '' : '   with search and charts'}`;
}

function runningText({ contracts, logs = [] }: Running, nodes: ReturnType<typeof nodesOf>): string {
  const { enabled, engine, why } = contracts;
  const executed = enabled ? `executed, by the engine at ${engine}` : 'not executed';
  const reason = why === undefined ? '' : `\n  ${why}\n`;
  const list = nodes.map(({ rest, owner }, i) => `    ${rest}   ${owner}   ${logs[i]}\n`);
  const each =
    nodes.length === 1 ? '' : `\n  Nodes, each with its owner and its log:\n${list.join('')}`;
  return `  Contracts  ${executed}\n${reason}${each}`;
}

/**
 * The node that signs for an account: the node of its owner, or any node for accounts that own
 * none.
 */
function keyPlace(index: number, nodes: readonly { readonly rest?: string | undefined }[]): string {
  if (nodes.length === 1) return '';
  const own = nodes[index];
  return `   key: ${own === undefined ? 'every node' : (own.rest ?? `node ${index + 1}`)}`;
}
