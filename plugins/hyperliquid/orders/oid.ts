/** The exchange's own number of an order, where the text is one as it is written there: "07" names none. */
export const oidOf = (orderId: string): number | undefined => (/^(0|[1-9]\d{0,14})$/.test(orderId) ? Number(orderId) : undefined)
