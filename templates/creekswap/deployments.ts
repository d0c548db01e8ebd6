/** The accounts of the pools, by network. */
export const pools: Readonly<Record<string, readonly string[]>> = {
  local: [
    'DD49BWXAzqfTdhWfFgfoT87imRZbSpaGrutgwG2h7xgd',
    'DCA1AHEUHWEyHzYhSCaiWGSJM3bhy2zrTDiBvijsVUP3',
    // Of a token that the program cannot move: it is left out.
    'Ei7cErZFCsnqyG8rpuynrp3b5n2ymPv46qzKWE97kDTE',
  ],
}
