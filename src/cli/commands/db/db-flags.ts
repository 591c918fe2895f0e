/** What the commands of a store have in common. */
export interface DbFlags {
  readonly set?: string[];
}

export interface VerifyFlags extends DbFlags {
  readonly full?: true;
}
