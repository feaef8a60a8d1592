// SPDX-License-Identifier: BSD-2-Clause
#include "checkpoint.h"

#include <zstd.h>

#include <cstring>
#include <memory>

#include "error.h"
#include "file.h"
#include "soc_config.h"

namespace {

constexpr uint32_t kFormat = 1;
constexpr int kCompression = 3;  // 0.1 s for 32 MiB of RAM

struct Header {
    char magic[8];
    uint32_t format;
    char build[32];  // kBuildId: the verilated model and the harness
    uint32_t zero;
    uint64_t size;  // of the state before compression
};
static_assert(sizeof(Header) == 56, "the header is the file format: it has no padding");

Header header(uint64_t size) {
    Header out = {{'M', 'o', 'd', 'e', 'r', 'a', 't', 'o'}, kFormat, {}, 0, size};
    static_assert(sizeof kBuildId == sizeof out.build + 1, "a build id has 32 characters");
    std::memcpy(out.build, kBuildId, sizeof out.build);
    return out;
}

Error unusable(const std::string& path, const std::string& why) {
    return Error(path + ": " + why + "; delete it, it will be made again", kBadCheckpoint);
}

}  // namespace

std::vector<uint8_t> pack(const std::vector<uint8_t>& state) {
    std::vector<uint8_t> packed(ZSTD_compressBound(state.size()));
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kCompression);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    const size_t size = ZSTD_compress2(context.get(), packed.data(), packed.size(), state.data(), state.size());
    if (ZSTD_isError(size)) throw Error(std::string("the state cannot be compressed: ") + ZSTD_getErrorName(size));
    packed.resize(size);
    packed.shrink_to_fit();
    return packed;
}

std::vector<uint8_t> unpack(const std::vector<uint8_t>& packed) {
    std::vector<uint8_t> state(ZSTD_getFrameContentSize(packed.data(), packed.size()));
    ZSTD_decompress(state.data(), state.size(), packed.data(), packed.size());
    return state;
}

size_t write_checkpoint(const std::string& path, const std::vector<uint8_t>& state) {
    const Header head = header(state.size());
    const std::vector<uint8_t> packed = pack(state);
    std::vector<uint8_t> file(sizeof head);
    std::memcpy(file.data(), &head, sizeof head);
    file.insert(file.end(), packed.begin(), packed.end());
    write_file(path, file);
    return file.size();
}

std::vector<uint8_t> read_checkpoint(const std::string& path) {
    std::vector<uint8_t> file;
    try {
        file = read_file(path);
    } catch (const Error& error) { throw Error(error.what(), kBadCheckpoint); }
    Header found;
    if (file.size() < sizeof found) throw unusable(path, "is not a checkpoint (too short)");
    std::memcpy(&found, file.data(), sizeof found);
    const Header wanted = header(found.size);
    if (std::memcmp(found.magic, wanted.magic, sizeof found.magic) != 0) throw unusable(path, "is not a checkpoint");
    if (found.format != kFormat)
        throw unusable(path, "has checkpoint format " + std::to_string(found.format) + ", this program reads " +
                                 std::to_string(kFormat));
    if (std::memcmp(found.build, wanted.build, sizeof found.build) != 0)
        throw unusable(path, "was made by another build of the simulation");

    const uint8_t* content = file.data() + sizeof found;
    const size_t size = file.size() - sizeof found;
    if (found.zero != 0 || ZSTD_getFrameContentSize(content, size) != found.size) throw unusable(path, "is damaged");
    std::vector<uint8_t> state(found.size);
    // Fails also if the file is truncated or a bit of it differs: the frame carries a checksum.
    if (ZSTD_decompress(state.data(), state.size(), content, size) != found.size) throw unusable(path, "is damaged");
    return state;
}
