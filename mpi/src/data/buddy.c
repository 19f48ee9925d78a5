#include "data/buddy.h"

/* Of messages with sizes: above all numbers of copies. */
enum { TAG = 32000 };

void begin_buddies(struct buddies *buddies, const struct ring *ring, int64_t version)
{
    *buddies = (struct buddies){.ring = ring, .version = version};
    begin_flight(&buddies->flight, ring->comm);
    if (ring->shift == 0)
        return;
    buddies->own_bytes = find_copy(ring->number[ring->own], version)->bytes;
    receive_bytes(&buddies->flight, &buddies->other_bytes, sizeof buddies->other_bytes,
                  partner(ring, ring->own, -1), TAG);
    send_bytes(&buddies->flight, &buddies->own_bytes, sizeof buddies->own_bytes,
               partner(ring, ring->own, 1), TAG);
}

/* Sizes are known. */
static void exchange(struct buddies *buddies)
{
    const struct ring *ring = buddies->ring;
    int to = partner(ring, ring->own, 1), from = partner(ring, ring->own, -1);
    buddies->transfers[0] =
        (struct transfer){ring->number[ring->own], ring->own, to, buddies->own_bytes};
    buddies->transfers[1] =
        (struct transfer){ring->number[from], from, ring->own, buddies->other_bytes};
    buddies->sized = true;
    begin_carrying(&buddies->flight, ring->comm, ring->own, buddies->version, 2,
                   buddies->transfers);
}

bool advance_buddies(struct buddies *buddies)
{
    if (!has_landed(&buddies->flight))
        return false;
    if (buddies->ring->shift == 0 || !buddies->flight.good)
        return true;
    if (!buddies->sized) {
        exchange(buddies);
        return false;
    }
    end_carrying(buddies->ring->own, buddies->version, 2, buddies->transfers);
    return true;
}
