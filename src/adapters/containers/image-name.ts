/**
 * Names of images as a 103 carries them: [registry domain/]repository[:tag][@digest]. A first part
 * with a dot or a colon, or `localhost`, is the domain of a registry.
 */
export interface ImageName {
  /** Undefined: the registry that the engine takes by default. */
  readonly domain: string | undefined;
  /** With the domain. */
  readonly repository: string;
  /** A tag, or a digest with its algorithm. */
  readonly tag: string;
  readonly isDigest: boolean;
}

const DEFAULT_TAG = 'latest';

export function parseImageName(text: string, defaultDomain: string | undefined): ImageName {
  const [named = '', digest] = text.split('@', 2);
  const slash = named.indexOf('/');
  const first = slash < 0 ? '' : named.slice(0, slash);
  const own = /[.:]/.test(first) || first === 'localhost' ? first : undefined;
  const domain = own ?? defaultDomain;
  const full = own === undefined && domain !== undefined ? `${domain}/${named}` : named;
  const colon = full.indexOf(':', full.lastIndexOf('/') + 1);
  const repository = colon < 0 ? full : full.slice(0, colon);
  const tag = digest ?? (colon < 0 ? DEFAULT_TAG : full.slice(colon + 1));
  return { domain, repository, tag, isDigest: digest !== undefined };
}

/** As the engine lists it among the names of an image. */
export const fullName = ({ repository, tag, isDigest }: ImageName): string =>
  `${repository}${isDigest ? '@' : ':'}${tag}`;

/** True where `listed`, a name that the engine gives, means this image. */
export const isNameOf = (name: ImageName, listed: string): boolean =>
  short(listed) === short(fullName(name));

/** The engine leaves out the domain of its default registry, and a part of its official images. */
const short = (name: string): string => name.replace(/^(?:index\.)?docker\.io\/(?:library\/)?/, '');
