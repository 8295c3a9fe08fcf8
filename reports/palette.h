/* The same colour for the same thing in every chart, table and page. Told apart by people who do
 * not see red or green: after Okabe and Ito's set. 0xRRGGBB. */
#ifndef REPORTS_PALETTE_H
#define REPORTS_PALETTE_H

enum palette {
    COLOUR_BUSY = 0x0072B2,
    COLOUR_IDLE_ALLOCATED = 0xF0E442,
    COLOUR_IDLE_UNALLOCATED = 0xD55E00,
    COLOUR_IDLE = 0xE69F00, /* allocation unknown, or all idle together */
    COLOUR_UNKNOWN = 0xA6A6A6,
    COLOUR_UNUSED = 0xCC79A7,
    COLOUR_CORRECTED = 0x404040,
    COLOUR_EFFECTIVE = 0x56B4E9,
    COLOUR_SAVING = 0x009E73,
    COLOUR_SUPPLY = 0x5B6B7B, /* provisioned, running: the whole before it is split */
    COLOUR_INK = 0x1F2933,
    COLOUR_MUTED = 0x6B7785,
    COLOUR_RULE = 0xD5DBE1,
    COLOUR_HEAD = 0xE9EEF3,
    COLOUR_DRAFT = 0xB3261E,
};

/* Colour of a ledger line by its name ("idle, allocation unknown"); supply's for one it does not
 * know. */
unsigned palette_line(const char *line);

#endif
